"""Every operation of the API by name: what is served answers for itself, the rest says that it is not there."""

import json

import pytest

SERVED = """
    BatchGetItem BatchWriteItem CancelBulkOperation CreateGlobalTable CreateTable DeleteItem DeleteTable DescribeBulkOperation
    DescribeContinuousBackups DescribeContributorInsights DescribeEndpoints DescribeGlobalTable DescribeGlobalTableSettings
    DescribeKinesisStreamingDestination DescribeLimits DescribeTable DescribeTableReplicaAutoScaling DescribeTimeToLive GetItem
    GetResourcePolicy ListBulkOperations ListContributorInsights ListGlobalTables ListTables ListTagsOfResource PutItem Query Scan
    TagResource TransactGetItems TransactWriteItems UntagResource UpdateContinuousBackups UpdateGlobalTable UpdateGlobalTableSettings UpdateItem UpdateTable
    UpdateTableReplicaAutoScaling UpdateTimeToLive
""".split()
#: They would change what a table does, or need what is not built.
NOT_SERVED = """
    CreateBackup DeleteBackup DeleteResourcePolicy DescribeBackup DescribeExport DescribeImport DisableKinesisStreamingDestination
    EnableKinesisStreamingDestination ExportTableToPointInTime ImportTable ListBackups ListExports ListImports PutResourcePolicy
    RestoreTableFromBackup RestoreTableToPointInTime StartBulkPutItems UpdateContributorInsights UpdateKinesisStreamingDestination
""".split()
UNKNOWN = {"__type": "com.amazon.coral.service#UnknownOperationException"}


@pytest.mark.parametrize("operation", SERVED)
def test_served(open_proxy, operation):
    _, body = open_proxy.call(operation, {})
    assert "UnknownOperationException" not in json.dumps(body)


@pytest.mark.parametrize("operation", NOT_SERVED)
def test_not_served(open_proxy, operation):
    assert open_proxy.call(operation, {"TableName": "Hash1"}) == (400, UNKNOWN)


def test_vectors_are_searched_elsewhere(open_proxy):
    message = "This operation is not supported by this endpoint"
    assert open_proxy.call("SearchVectors", {}) == (400, {**UNKNOWN, "message": message})
