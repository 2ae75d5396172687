"""CreateTable requests, short to write."""


def table(name, key, types="", gsi=(), lsi=(), **more):
    """`key` and the keys of indexes are "h", "h r", or for several "h1,h2 r1,r2"; `types` is "h:S r:N", S where it says
    nothing; an index is (name, key, projection), projection KEYS_ONLY, ALL or a list of attributes."""
    request = {"TableName": name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": _schema(key), **more}
    if gsi:
        request["GlobalSecondaryIndexes"] = [_index(*parts) for parts in gsi]
    if lsi:
        request["LocalSecondaryIndexes"] = [_index(*parts) for parts in lsi]
    known = dict(entry.split(":") for entry in types.split())
    schemas = [request["KeySchema"], *(index["KeySchema"] for index in _indexes(request))]
    names = dict.fromkeys(element["AttributeName"] for schema in schemas for element in schema)
    request["AttributeDefinitions"] = [
        {"AttributeName": attribute, "AttributeType": known.get(attribute, "S")} for attribute in names
    ]
    return request


def _indexes(request):
    return request.get("GlobalSecondaryIndexes", []) + request.get("LocalSecondaryIndexes", [])


def _schema(key):
    roles = zip(("HASH", "RANGE"), key.split(" "))
    return [{"AttributeName": name, "KeyType": role} for role, names in roles for name in names.split(",")]


def _index(name, key, projection):
    if isinstance(projection, list):
        projection = {"ProjectionType": "INCLUDE", "NonKeyAttributes": projection}
    else:
        projection = {"ProjectionType": projection}
    return {"IndexName": name, "KeySchema": _schema(key), "Projection": projection}


def unordered(value):
    """An AttributeValue, or anything that holds some, with its sets in one order."""
    if isinstance(value, dict):
        return {
            name: sorted(member) if name in ("SS", "NS", "BS") and isinstance(member, list) else unordered(member)
            for name, member in value.items()
        }
    if isinstance(value, list):
        return [unordered(member) for member in value]
    return value
