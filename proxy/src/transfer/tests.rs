//! Both ways over an embedded store.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use extenddb_backend_sqlite::{Config, Place, Sqlite, Synchronous};
use extenddb_core::{table::AccountId, wire::Answer};
use indicatif::ProgressBar;

use super::*;
use crate::backend::Embedded;

fn memory() -> Embedded<Sqlite> {
    let store = Sqlite::open(&Config {
        place: Place::Memory,
        synchronous: Synchronous::Full,
        max_pages: None,
    });
    Embedded::start(
        store.unwrap(),
        "us-east-1".into(),
        AccountId::default(),
        CALL_TIMEOUT,
    )
}

fn caller(table: &str) -> Caller {
    Caller {
        account: AccountId::default().0,
        table: table.into(),
    }
}

async fn create<B: Backend>(backend: &B, table: &str) -> Caller {
    let caller = caller(table);
    let request = serde_json::json!({
        "TableName": table, "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": "pk", "AttributeType": "S"}],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
    });
    caller
        .call(backend, Operation::CreateTable, &request)
        .await
        .unwrap();
    caller
}

async fn import<B: Backend>(
    backend: &B,
    caller: &Caller,
    text: &str,
    from_line: u64,
) -> Result<u64, Stopped> {
    import_items::lines(
        backend,
        caller,
        text.as_bytes(),
        from_line,
        &ProgressBar::hidden(),
    )
    .await
}

/// The lines, sorted.
async fn export<B: Backend>(backend: &B, caller: &Caller) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("items");
    export_items::run(backend, caller, Some(&path)).await.unwrap();
    let mut lines: Vec<String> = std::fs::read_to_string(path)
        .unwrap()
        .lines()
        .map(str::to_owned)
        .collect();
    lines.sort();
    lines
}

fn line(number: usize, text: &str) -> String {
    format!(r#"{{"Item":{{"pk":{{"S":"{number:05}"}},"text":{{"S":"{text}"}}}}}}"#)
}

#[tokio::test]
async fn what_was_exported_is_imported_again() {
    let backend = memory();
    let (from, to) = (create(&backend, "From").await, create(&backend, "Into").await);
    // Several pages of a Scan, and no whole number of batches.
    let filler = "x".repeat(3_000);
    let mut lines: Vec<String> = (0..1_003).map(|number| line(number, &filler)).collect();
    lines.push(
        r#"{"Item":{"b":{"B":"AAE="},"m":{"M":{"l":{"L":[{"NULL":true},{"N":"1.5"}]}}},"pk":{"S":"a\nb"}}}"#
            .into(),
    );
    lines.sort();
    assert_eq!(
        import(&backend, &from, &lines.join("\n"), 1).await.unwrap(),
        1_004
    );
    let exported = export(&backend, &from).await;
    assert_eq!(exported, lines);
    assert_eq!(
        import(&backend, &to, &exported.join("\r\n\r\n"), 1)
            .await
            .unwrap(),
        1_004
    );
    assert_eq!(export(&backend, &to).await, lines);
}

#[tokio::test]
async fn of_two_lines_with_one_key_the_later_stays() {
    let backend = memory();
    let caller = create(&backend, "Table").await;
    let text = [line(1, "first"), line(2, "other"), line(1, "second")].join("\n");
    assert_eq!(import(&backend, &caller, &text, 1).await.unwrap(), 3);
    assert_eq!(
        export(&backend, &caller).await,
        [line(1, "second"), line(2, "other")]
    );
}

#[tokio::test]
async fn a_fault_names_its_line_and_what_is_before_it_is_written() {
    let backend = memory();
    let faults = [
        (r#"{"Item":{"pk":{"S":""}}}"#, "ValidationException: "),
        (r#"{"Item":{"other":{"S":"x"}}}"#, "ValidationException: "),
        ("{", "it is not {\"Item\":{…}}"),
        (r#"{"pk":{"S":"x"}}"#, "it is not {\"Item\":{…}}"),
        (
            r#"{"Item":{"pk":{"S":"x"}},"Keys":{}}"#,
            "it is not {\"Item\":{…}}",
        ),
    ];
    for (number, (fault, text)) in faults.into_iter().enumerate() {
        let caller = create(&backend, &format!("Table{number}")).await;
        let mut lines: Vec<String> = (1..=60).map(|number| line(number, "x")).collect();
        lines[41] = fault.into();
        let stopped = import(&backend, &caller, &lines.join("\n"), 1).await.unwrap_err();
        let said = stopped.to_string();
        assert!(said.starts_with(&format!("line 42: {text}")), "{said}");
        let hint = "the 41 lines before it are written (mend that line, then go on with --from-line 42)";
        assert!(said.ends_with(hint), "{said}");
        assert_eq!(export(&backend, &caller).await, lines[..41]);
        lines[41] = line(42, "mended");
        assert_eq!(
            import(&backend, &caller, &lines.join("\n"), 42).await.unwrap(),
            19
        );
        assert_eq!(export(&backend, &caller).await, lines);
    }
}

#[tokio::test]
async fn a_missing_table_is_no_lines_fault() {
    let stopped = import_items::run(&memory(), &caller("Missing"), None, 1)
        .await
        .unwrap_err();
    let wanted =
        "DescribeTable: ResourceNotFoundException: Requested resource not found: Table: Missing not found";
    assert_eq!(stopped.to_string(), wanted);
}

#[tokio::test]
async fn a_file_that_is_there_is_not_overwritten() {
    let backend = memory();
    let caller = create(&backend, "Table").await;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("items");
    std::fs::write(&path, "mine").unwrap();
    let stopped = export_items::run(&backend, &caller, Some(&path))
        .await
        .unwrap_err();
    assert!(matches!(stopped, Stopped::Exists(_)));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    let elsewhere = directory.path().join("elsewhere");
    let stopped = export_items::run(&backend, &self::caller("Missing"), Some(&elsewhere)).await;
    assert!(stopped.is_err());
    assert_eq!(
        std::fs::read_dir(directory.path()).unwrap().count(),
        1,
        "nothing partial is left"
    );
}

/// Writes one item of a batch, says that it is busy at first, and breaks off every third call.
struct Busy {
    backend: Embedded<Sqlite>,
    calls: AtomicUsize,
}

impl Backend for Arc<Busy> {
    async fn call(&self, operation: Operation, body: &str, context: &Context<'_>) -> Result<Answer, Failure> {
        if operation != Operation::BatchWriteItem {
            return self.backend.call(operation, body, context).await;
        }
        if self.calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(3) {
            return Err(Failure::Unavailable("busy".into()));
        }
        let mut request: serde_json::Value = serde_json::from_str(body).unwrap();
        let items = request["RequestItems"]["Table"].as_array_mut().unwrap();
        let left = items.split_off(items.len().min(15));
        let answer = self
            .backend
            .call(operation, &request.to_string(), context)
            .await?;
        let unprocessed = match left.is_empty() {
            true => serde_json::json!({}),
            false => serde_json::json!({ "Table": left }),
        };
        assert_eq!(answer.body, r#"{"UnprocessedItems":{}}"#);
        let body = serde_json::json!({ "UnprocessedItems": unprocessed }).to_string();
        Ok(Answer { status: 200, body })
    }

    async fn ready(&self) -> Result<(), String> {
        Ok(())
    }

    async fn close(&self) {}
}

#[tokio::test]
async fn what_is_left_unprocessed_is_sent_again() {
    let backend = Arc::new(Busy {
        backend: memory(),
        calls: AtomicUsize::new(0),
    });
    let caller = create(&backend, "Table").await;
    let lines: Vec<String> = (0..60).map(|number| line(number, "x")).collect();
    assert_eq!(import(&backend, &caller, &lines.join("\n"), 1).await.unwrap(), 60);
    assert_eq!(export(&backend, &caller).await, lines);
}
