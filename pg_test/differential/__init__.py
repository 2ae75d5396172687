"""Our server and another one that claims to answer as DynamoDB does, asked the same.

`python -m differential --oracle http://127.0.0.1:8000`, in the folder `pg_test`, with the packages of `requirements.txt`.

Seeded requests, sound and broken, go to both. Answers that differ are grouped by operation and the two texts without what they
echo, and each group is printed once, made as small as it stays different. The other server proves nothing: which of the two is
right, `docs/behaviour` decides. `known.toml` holds the differences in which it decided for us.

The tables of a run are made anew at its start: two runs at once need two servers each.
"""
