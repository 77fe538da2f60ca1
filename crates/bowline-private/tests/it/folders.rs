use std::{
    fs::{self, Permissions},
    io::ErrorKind,
    os::unix::fs::{PermissionsExt, symlink},
};

use bowline_private::{folder, folder_as_it_is};

use crate::{give_away, mode, place};

#[test]
fn new_parent_folders_are_private() {
    let place = place();
    let deep = place.path().join("a/b/c");
    folder(&deep).unwrap();
    for inside in ["a", "a/b", "a/b/c"] {
        assert_eq!(mode(&place.path().join(inside)), 0o700, "{inside}");
    }
    folder(&deep).unwrap();
}

#[test]
fn existing_own_folder_is_made_private() {
    let place = place();
    let open = place.path().join("open");
    for before in [0o777, 0o755, 0o710, 0o000] {
        fs::create_dir_all(&open).unwrap();
        fs::set_permissions(&open, Permissions::from_mode(before)).unwrap();
        folder(&open).unwrap();
        assert_eq!(mode(&open), 0o700, "{before:o}");
    }
    fs::set_permissions(&open, Permissions::from_mode(0o755)).unwrap();
    folder_as_it_is(&open).unwrap();
    assert_eq!(mode(&open), 0o755, "its owner chose that");
}

#[test]
fn existing_parent_folder_is_unchanged() {
    let place = place();
    let home = place.path().join("home");
    fs::create_dir(&home).unwrap();
    folder(&home.join(".bowline/projects")).unwrap();
    assert_eq!(mode(&home), 0o777);
}

#[test]
fn file_at_the_folder_path_is_refused() {
    let place = place();
    let file = place.path().join("file");
    fs::write(&file, "").unwrap();
    assert_eq!(folder(&file).unwrap_err().kind(), ErrorKind::NotADirectory);
    symlink("nowhere", place.path().join("link")).unwrap();
    folder(&place.path().join("link")).unwrap_err();
    assert!(!place.path().join("nowhere").exists());
}

#[test]
fn folder_of_another_user_is_refused() {
    let place = place();
    let theirs = place.path().join("theirs");
    fs::create_dir(&theirs).unwrap();
    if !give_away(&theirs) {
        return;
    }
    // For root too: the folder lies below one that everybody can write to.
    let error = folder(&theirs).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    assert!(error.to_string().contains("another user (uid 65534)"), "{error}");
    folder(&theirs.join("ours")).unwrap_err();
    assert!(!theirs.join("ours").exists());
    symlink(&theirs, place.path().join("link")).unwrap();
    folder(&place.path().join("link")).unwrap_err();
    folder(&place.path().join("link/ours")).unwrap_err();
}
