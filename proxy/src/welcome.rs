//! What someone who has just started a server of their own wants to know.

use tokio::net::TcpListener;

use crate::signature::Authentication;

/// On standard output, beside the log. A reader that is gone is no reason to stop.
pub fn print(listeners: &[TcpListener], place: &str, authentication: &Authentication, region: &str) {
    use std::io::Write;
    let address = listeners.first().and_then(|listener| listener.local_addr().ok());
    let Some(mut address) = address else { return };
    if address.ip().is_unspecified() {
        address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    let text = text(&format!("http://{address}"), place, authentication, region);
    let _ = std::io::stdout().lock().write_all(text.as_bytes());
}

fn text(endpoint: &str, place: &str, authentication: &Authentication, region: &str) -> String {
    let (said, key) = match authentication {
        Authentication::Strict(_) => ("the key that this server was started with", ""),
        Authentication::Format | Authentication::None => (
            "any; the SDKs only want some",
            "AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local ",
        ),
    };
    let (where_to, afterwards) = match place {
        "memory" => ("memory".to_owned(), "what it holds is gone then"),
        path => (format!("the SQLite file {path}"), "the data stays"),
    };
    format!(
        "
extenddb is running: DynamoDB in {where_to}.

  endpoint      {endpoint}
  region        {region}
  credentials   {said}
  AWS CLI       {key}aws dynamodb list-tables --region {region} --endpoint-url {endpoint}
  AWS SDKs      AWS_ENDPOINT_URL_DYNAMODB={endpoint} in their environment

Ctrl-C stops it; {afterwards}.

"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_for_the_cli_can_be_pasted() {
        let text = text(
            "http://127.0.0.1:8000",
            "/d/x.sqlite",
            &Authentication::Format,
            "us-east-1",
        );
        let wanted = "AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local aws dynamodb list-tables --region us-east-1 \
                      --endpoint-url http://127.0.0.1:8000\n";
        assert!(text.contains(wanted), "{text}");
        assert!(
            text.contains("DynamoDB in the SQLite file /d/x.sqlite."),
            "{text}"
        );
    }
}
