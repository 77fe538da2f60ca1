//! Transcript of a compaction: a resumed session continues from the summary.

use bowline_protocol::Role;
use bowline_sessions::{
    ConfigHome, LineOrigin, MessageKind, ProjectKey, ResumeAt, TranscriptWriter, resume,
};

use crate::{request_log::RequestLog, rig::Rig};

#[tokio::test]
async fn resumed_conversation_is_what_the_model_saw() {
    let log = RequestLog::default();
    let folder = tempfile::tempdir().unwrap();
    let home = ConfigHome::new(folder.path().join("config"));
    let key = ProjectKey::for_directory(folder.path());
    let mut rig = Rig::in_folder(folder, |config| {
        log.record(config);
        let files = home.session(&key, &config.session_id);
        config.transcript = Some(TranscriptWriter::create(files, LineOrigin::default()).unwrap());
    });
    rig.run("SUMMARY talked about one and two\nSAY one").await;
    rig.run("SAY two").await;
    rig.run("/compact").await;
    rig.run("SAY three").await;
    let path = home.session(&key, &rig.session.id()).transcript();
    let context = resume(&path, &ResumeAt::End).unwrap();
    let said: Vec<_> = context
        .messages
        .iter()
        .map(|message| {
            let who = if message.role == Role::User { "U" } else { "A" };
            format!("{who}: {}", message.content[0].as_text().unwrap())
        })
        .collect();
    let mut received = log.conversation();
    received.push("A: three".to_owned());
    assert_eq!(said, received);
    assert_eq!(context.messages[0].kind, MessageKind::CompactSummary);
    let compaction = context.compaction.expect("the boundary is there");
    assert_eq!(compaction.trigger, "manual");
    assert_eq!(compaction.preserved_messages.unwrap().all_uuids.len(), 1);
    assert!(said[0].contains(&path.display().to_string()), "it says where all of it is");
}
