//! `X-Amz-Target`: which operation.                                                       behaviour/wire §front-end

use extenddb_core::operation::Operation;
use hyper::HeaderMap;

const PREFIX: &str = "DynamoDB_20120810";
const STREAMS_PREFIX: &str = "DynamoDBStreams_20120810";
const OF_STREAMS: [&str; 4] = ["DescribeStream", "GetRecords", "GetShardIterator", "ListStreams"];

/// The service has it, on a host of its own.
const SEARCH: &str = "SearchVectors";

/// Answered without the backend.
const ENDPOINTS: &str = "DescribeEndpoints";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Served(Operation),
    DescribeEndpoints,
    AnotherEndpoint,
    /// Missing, malformed, of another version, or not served.
    Unknown,
}

impl Target {
    pub(super) fn read(headers: &HeaderMap) -> Target {
        headers
            .get("x-amz-target")
            .and_then(|target| target.to_str().ok())
            .and_then(|target| target.split_once('.'))
            .map_or(Target::Unknown, |(prefix, name)| Self::of(prefix, name))
    }

    fn of(prefix: &str, name: &str) -> Target {
        let expected = if OF_STREAMS.contains(&name) {
            STREAMS_PREFIX
        } else {
            PREFIX
        };
        match name {
            _ if prefix != expected => Target::Unknown,
            ENDPOINTS => Target::DescribeEndpoints,
            SEARCH => Target::AnotherEndpoint,
            _ => Operation::from_name(name).map_or(Target::Unknown, Target::Served),
        }
    }

    /// For the log. What the client made up stays out of it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Target::Served(operation) => operation.name(),
            Target::DescribeEndpoints => ENDPOINTS,
            Target::AnotherEndpoint => SEARCH,
            Target::Unknown => "",
        }
    }
}
