//! Output styles.

use bowline_engine::settings::{Places, Settings, SettingsRequest};
use serde_json::json;

use super::write;
use crate::{ears::Ears, rig::Rig};

#[tokio::test]
async fn a_style_replaces_how_to_answer_and_unless_it_says_so_how_to_work() {
    for (keeps, head) in [(false, ""), (true, "keep-coding-instructions: true\n")] {
        let ears = Ears::default();
        let folder = tempfile::tempdir().unwrap();
        let style = format!("---\nname: Pirate\n{head}---\nTalk like a pirate.");
        write(folder.path(), ".claude/output-styles/pirate.md", &style);
        write(folder.path(), ".claude/settings.json", r#"{"outputStyle": "Pirate"}"#);
        let mut rig = Rig::in_folder(folder, |config| {
            ears.listen(config);
            config.places = Places::new(config.cwd.join("config"), &config.cwd);
            config.settings = Settings::load(&config.places, &SettingsRequest::default()).unwrap();
        });
        let answer = rig.control(json!({"subtype": "initialize"})).await.unwrap();
        assert_eq!(answer["output_style"], "Pirate");
        assert_eq!(answer["available_output_styles"], json!(["default", "Pirate"]));
        let frames = rig.run("SAY hi").await;
        assert_eq!(frames[0]["output_style"], "Pirate");
        let system = &ears.system()[0];
        assert!(system.contains("# Output style: Pirate\nTalk like a pirate."), "{system}");
        assert!(!system.contains("# Answers"));
        assert_eq!(system.contains("# How to work"), keeps);
        assert!(system.contains("# Care"), "safety is no question of style");
    }
}
