//! Bodies of errors and the writer of successes.                                     behaviour/wire §errors

use super::*;
use crate::{
    error::{Error, Exception, Fault},
    request::Operation::*,
};

#[test]
fn namespaces_and_text_members() {
    use Exception::*;
    let validate = "com.amazon.coral.validate";
    let service = "com.amazon.coral.service";
    let dynamodb = "com.amazonaws.dynamodb.v20120810";
    for (exception, namespace, name, member) in [
        (Validation, validate, "ValidationException", "message"),
        (Serialization, service, "SerializationException", "Message"),
        (UnknownOperation, service, "UnknownOperationException", "message"),
        (
            MissingAuthenticationToken,
            service,
            "MissingAuthenticationTokenException",
            "message",
        ),
        (
            IncompleteSignature,
            service,
            "IncompleteSignatureException",
            "message",
        ),
        (InvalidSignature, service, "InvalidSignatureException", "message"),
        (
            UnrecognizedClient,
            service,
            "UnrecognizedClientException",
            "message",
        ),
        (ExpiredToken, service, "ExpiredTokenException", "message"),
        (AccessDenied, service, "AccessDeniedException", "Message"),
        (
            Throttling,
            "com.amazon.coral.availability",
            "ThrottlingException",
            "message",
        ),
        (ResourceNotFound, dynamodb, "ResourceNotFoundException", "message"),
        (ResourceInUse, dynamodb, "ResourceInUseException", "message"),
        (LimitExceeded, dynamodb, "LimitExceededException", "message"),
        (
            ConditionalCheckFailed,
            dynamodb,
            "ConditionalCheckFailedException",
            "message",
        ),
        (
            TransactionCanceled,
            dynamodb,
            "TransactionCanceledException",
            "Message",
        ),
        (
            TransactionInProgress,
            dynamodb,
            "TransactionInProgressException",
            "Message",
        ),
        (
            IdempotentParameterMismatch,
            dynamodb,
            "IdempotentParameterMismatchException",
            "Message",
        ),
        (
            TransactionConflict,
            dynamodb,
            "TransactionConflictException",
            "message",
        ),
        (RequestLimitExceeded, dynamodb, "RequestLimitExceeded", "message"),
        (InternalServerError, dynamodb, "InternalServerError", "message"),
    ] {
        let body = format!(r#"{{"__type":"{namespace}#{name}","{member}":"x"}}"#);
        assert_eq!(error_body(exception, Some("x")), body);
        let status = if exception == InternalServerError {
            500
        } else {
            400
        };
        assert_eq!(exception.status(), status);
    }
}

#[test]
fn bodies() {
    let body = |error: Error| answer_error(&error, GetItem, Layer::New);
    assert_eq!(
        body(ShapeFault::Bare.into()),
        Answer {
            status: 400,
            body: r#"{"__type":"com.amazon.coral.service#SerializationException"}"#.into()
        }
    );
    assert_eq!(
        body(
            ShapeFault::Token {
                token: "NUMBER_VALUE",
                class: "String"
            }
            .into()
        )
        .body,
        r#"{"__type":"com.amazon.coral.service#SerializationException","Message":"NUMBER_VALUE cannot be converted to String"}"#
    );
    assert_eq!(
        error_body(Exception::UnknownOperation, None),
        r#"{"__type":"com.amazon.coral.service#UnknownOperationException"}"#
    );
    assert_eq!(
        body(Fault::ConditionFailed.into()).body,
        r#"{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"The conditional request failed"}"#
    );
    // What went wrong inside stays inside.
    assert_eq!(
        body(Fault::Internal("disk full".into()).into()),
        Answer {
            status: 500,
            body: r#"{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"Internal server error"}"#
                .into()
        }
    );
    let text = MemberFault::bare("a \"b\"\n");
    assert_eq!(
        body(text.into()).body,
        r#"{"__type":"com.amazon.coral.validate#ValidationException","message":"a \"b\"\n"}"#
    );
}

#[test]
fn the_prefix_follows_the_family() {
    let unused = PlaceholderFault::Unused {
        map: Map::Names,
        keys: vec!["#a".into()],
    };
    let has_prefix = |operation, layer| {
        let text = message(&unused.clone().into(), operation, layer).unwrap();
        text.starts_with("1 validation error detected: ")
    };
    for operation in crate::request::Operation::ALL {
        let expected = matches!(operation, PutItem | UpdateItem | DeleteItem);
        assert_eq!(
            has_prefix(operation, Layer::of(operation, Layer::New)),
            expected,
            "{operation:?}"
        );
        assert!(
            !has_prefix(operation, Layer::of(operation, Layer::Old)),
            "{operation:?}"
        );
    }
}

#[test]
fn objects() {
    let body = Object::body(|body| {
        body.string("s", "ä\"");
        body.integer("i", 5_u64);
        body.integer("n", -5);
        body.boolean("b", true);
        body.timestamp("t", 1_791_500_965_003);
        body.object("o", |object| {
            object.double("d", 1.0);
            object.object("e", |_| ());
        });
        body.strings("l", ["a", "b"]);
        body.objects("m", [1, 2], |number, object| object.integer("x", number));
    });
    assert_eq!(
        body,
        r#"{"s":"ä\"","i":5,"n":-5,"b":true,"t":1791500965.003,"o":{"d":1.0,"e":{}},"l":["a","b"],"m":[{"x":1},{"x":2}]}"#
    );
    assert_eq!(Object::body(|_| ()), "{}");
}

#[test]
fn doubles_print_as_in_java() {
    for (value, text) in [
        (0.0, "0.0"),
        (1.0, "1.0"),
        (0.5, "0.5"),
        (131072.5, "131072.5"),
        (1e7, "1.0E7"),
        (12_345_678.5, "1.23456785E7"),
        (0.0001, "1.0E-4"),
    ] {
        let mut out = String::new();
        write_double(value, &mut out);
        assert_eq!(out, text);
    }
}
