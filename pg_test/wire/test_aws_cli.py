"""The AWS CLI, told of the server by the environment alone."""

import json
import subprocess
import sys

import pytest


@pytest.fixture
def aws(proxy, tmp_path):
    """Runs `aws dynamodb …`; answers what it prints as JSON."""

    def aws(*arguments, check=True):
        command = [sys.executable, "-m", "awscli", "dynamodb", *arguments, "--output", "json"]
        environment = {**proxy.sdk_environment(), "HOME": str(tmp_path), "AWS_MAX_ATTEMPTS": "1"}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if not check:
            return done
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout) if done.stdout else None

    return aws


def test_a_table_from_its_creation_to_its_end(aws):
    created = aws("create-table", "--table-name", "Music", "--billing-mode", "PAY_PER_REQUEST",
                  "--attribute-definitions", "AttributeName=Artist,AttributeType=S", "AttributeName=Song,AttributeType=N",
                  "--key-schema", "AttributeName=Artist,KeyType=HASH", "AttributeName=Song,KeyType=RANGE")
    assert created["TableDescription"]["TableArn"] == "arn:aws:dynamodb:us-east-1:000000000000:table/Music"
    aws("wait", "table-exists", "--table-name", "Music")
    items = [{"Artist": {"S": "No One"}, "Song": {"N": str(n)}, "Title": {"S": f"Call {n} \u00e9"}} for n in range(3)]
    for item in items:
        aws("put-item", "--table-name", "Music", "--item", json.dumps(item))
    answer = aws("query", "--table-name", "Music", "--key-condition-expression", "Artist = :a",
                 "--expression-attribute-values", '{":a":{"S":"No One"}}', "--page-size", "2")
    assert answer["Items"] == items
    key = json.dumps({"Artist": {"S": "No One"}, "Song": {"N": "2"}})
    assert aws("get-item", "--table-name", "Music", "--key", key, "--consistent-read")["Item"] == items[2]
    refused = aws("put-item", "--table-name", "Music", "--item", json.dumps(items[2]),
                  "--condition-expression", "attribute_not_exists(Artist)", check=False)
    assert refused.returncode != 0
    assert "ConditionalCheckFailedException" in refused.stderr
    assert "The conditional request failed" in refused.stderr
    aws("delete-table", "--table-name", "Music")
    aws("wait", "table-not-exists", "--table-name", "Music")
    assert aws("list-tables") == {"TableNames": []}
