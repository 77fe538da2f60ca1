use std::{
    fs::{self, Permissions},
    os::unix::fs::{PermissionsExt, symlink},
    path::PathBuf,
};

use bowline_private::{disposable_folder, temporary_folder_in};
use tempfile::TempDir;

use crate::{give_away, mode, place};

/// A temporary folder that everybody can write to, and the usual name in it.
fn shared() -> (TempDir, PathBuf) {
    let place = place();
    fs::set_permissions(place.path(), Permissions::from_mode(0o1777)).unwrap();
    let usual = place.path().join(format!("claude-{}", rustix::process::getuid().as_raw()));
    (place, usual)
}

#[test]
fn temporary_folder_is_created_private() {
    let (place, usual) = shared();
    assert_eq!(temporary_folder_in(place.path()).unwrap(), usual);
    assert_eq!(mode(&usual), 0o700);
    fs::set_permissions(&usual, Permissions::from_mode(0o755)).unwrap();
    assert_eq!(temporary_folder_in(place.path()).unwrap(), usual);
    assert_eq!(mode(&usual), 0o700);
}

#[test]
fn short_lived_folder_is_private() {
    let (_place, _) = shared();
    assert_eq!(mode(disposable_folder("bowline-test-").unwrap().path()), 0o700);
}

#[test]
fn link_or_file_at_the_folder_path_is_left_alone() {
    for make in [
        |usual: &PathBuf| symlink(usual.with_extension("mine"), usual).unwrap(),
        |usual: &PathBuf| fs::write(usual, "").unwrap(),
    ] {
        let (place, usual) = shared();
        fs::create_dir(usual.with_extension("mine")).unwrap();
        make(&usual);
        let found = temporary_folder_in(place.path()).unwrap();
        assert_ne!(found, usual);
        assert!(found.parent() == Some(place.path()) && mode(&found) == 0o700, "{found:?}");
        assert_eq!(mode(&usual.with_extension("mine")), 0o777, "nothing was done to it");
        // One for all sessions, and another if it goes away.
        assert_eq!(temporary_folder_in(place.path()).unwrap(), found);
        fs::remove_dir(&found).unwrap();
        assert_ne!(temporary_folder_in(place.path()).unwrap(), found);
    }
}

#[test]
fn folder_of_another_user_is_not_used() {
    let (place, usual) = shared();
    fs::create_dir(&usual).unwrap();
    if !give_away(&usual) {
        return;
    }
    let found = temporary_folder_in(place.path()).unwrap();
    assert_ne!(found, usual);
    assert_eq!(mode(&found), 0o700);
}
