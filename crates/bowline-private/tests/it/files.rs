use std::{
    fs::{self, OpenOptions, Permissions},
    io::{ErrorKind, Write},
    os::unix::fs::{PermissionsExt, lchown, symlink},
    path::Path,
};

use bowline_private::{append, create, create_new, named_file, open, replace, write};

use crate::{STRANGER, give_away, mode, place};

#[test]
fn new_files_are_private() {
    let place = place();
    let at = |name: &str| place.path().join(name);
    create_new(&at("new")).unwrap();
    create(&at("created")).unwrap();
    append(&at("appended")).unwrap();
    write(&at("written"), "text").unwrap();
    replace(&at("replaced"), "text").unwrap();
    named_file(&at("named"), true).unwrap();
    open(&at("opened"), OpenOptions::new().read(true).write(true).create(true)).unwrap();
    let names: Vec<_> = fs::read_dir(place.path()).unwrap().flatten().collect();
    assert_eq!(names.len(), 7);
    for name in names {
        assert_eq!(mode(&name.path()), 0o600, "{name:?}");
    }
}

#[test]
fn existing_own_file_is_made_private_and_kept() {
    let place = place();
    let file = place.path().join("file");
    for opened in [append, |path: &Path| named_file(path, true)] {
        fs::write(&file, "one\n").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o666)).unwrap();
        opened(&file).unwrap().write_all(b"two\n").unwrap();
        assert_eq!(mode(&file), 0o600);
        assert_eq!(fs::read_to_string(&file).unwrap(), "one\ntwo\n");
    }
    write(&file, "x").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "x");
    assert_eq!(create_new(&file).unwrap_err().kind(), ErrorKind::AlreadyExists);
}

#[test]
fn link_of_another_user_is_not_followed() {
    let place = place();
    let (link, target) = (place.path().join("link"), place.path().join("target"));
    fs::write(&target, "kept").unwrap();
    symlink(&target, &link).unwrap();
    create_new(&link).unwrap_err();
    append(&link).unwrap().write_all(b".").unwrap();
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can give a link away");
        return;
    }
    lchown(&link, Some(STRANGER), None).unwrap();
    for result in [create(&link), append(&link), create_new(&link), named_file(&link, false)] {
        result.unwrap_err();
    }
    write(&link, "lost").unwrap_err();
    assert_eq!(fs::read_to_string(&target).unwrap(), "kept.");
    // The link itself gives way to the file.
    replace(&link, "new").unwrap();
    assert!(!link.is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), "kept.");
}

#[test]
fn file_of_another_user_is_refused() {
    let place = place();
    let theirs = place.path().join("theirs");
    fs::write(&theirs, "theirs").unwrap();
    fs::set_permissions(&theirs, Permissions::from_mode(0o666)).unwrap();
    if !give_away(&theirs) {
        return;
    }
    for result in [create(&theirs), append(&theirs), named_file(&theirs, false)] {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::PermissionDenied);
    }
    assert_eq!(fs::read_to_string(&theirs).unwrap(), "theirs", "not even emptied");
}

#[test]
fn user_named_file_may_be_a_device_or_own_link() {
    let place = place();
    named_file(Path::new("/dev/null"), true).unwrap();
    let (link, target) = (place.path().join("link"), place.path().join("target"));
    symlink(&target, &link).unwrap();
    named_file(&link, true).unwrap().write_all(b"text").unwrap();
    assert_eq!((mode(&target), fs::read_to_string(&target).unwrap().as_str()), (0o600, "text"));
    named_file(&link, false).unwrap();
    assert_eq!(fs::read_to_string(&target).unwrap(), "");
    named_file(place.path(), true).unwrap_err();
    fs::hard_link(&target, place.path().join("second")).unwrap();
    named_file(&target, true).unwrap_err();
}
