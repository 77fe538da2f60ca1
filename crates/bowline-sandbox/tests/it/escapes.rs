//! Escapes that a confined process must not manage.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write},
    net::{TcpListener, TcpStream, UdpSocket},
    os::unix::{
        fs::{OpenOptionsExt, PermissionsExt, chown, symlink},
        net::{UnixDatagram, UnixListener, UnixStream},
        process::CommandExt,
    },
    path::Path,
    process::{Command, Stdio},
    time::SystemTime,
};

use crate::rig::{Rig, refused};

type Attempt<'a> = (&'a str, Box<dyn FnOnce() -> io::Result<()> + Send + 'a>);

fn all_refused(rig: &Rig, attempts: Vec<Attempt<'_>>) {
    for (what, attempt) in attempts {
        refused(rig.attempt(attempt), what);
    }
}

#[test]
fn confined_process_cannot_change_files() {
    let Some(rig) = Rig::new() else { return };
    let (file, project) = (rig.file(), rig.project.clone());
    let new = project.join("new");
    let before = fs::metadata(&file).unwrap();
    symlink(&file, project.join("link")).unwrap();
    fs::create_dir(project.join("folder")).unwrap();
    let attempts: Vec<Attempt<'_>> = vec![
        ("create", Box::new(|| File::create(&new).map(drop))),
        ("write", Box::new(|| OpenOptions::new().write(true).open(&file).map(drop))),
        ("append", Box::new(|| OpenOptions::new().append(true).open(&file).map(drop))),
        (
            "truncate",
            Box::new(|| OpenOptions::new().write(true).truncate(true).open(&file).map(drop)),
        ),
        (
            "truncate what is opened for reading",
            Box::new(|| {
                OpenOptions::new().read(true).custom_flags(libc::O_TRUNC).open(&file).map(drop)
            }),
        ),
        (
            "temporary file",
            Box::new(|| {
                OpenOptions::new()
                    .write(true)
                    .custom_flags(libc::O_TMPFILE)
                    .open(&project)
                    .map(drop)
            }),
        ),
        ("remove", Box::new(|| fs::remove_file(&file))),
        ("remove a link", Box::new(|| fs::remove_file(project.join("link")))),
        ("rename", Box::new(|| fs::rename(&file, &new))),
        ("make a folder", Box::new(|| fs::create_dir(&new))),
        ("remove a folder", Box::new(|| fs::remove_dir(project.join("folder")))),
        ("symbolic link", Box::new(|| symlink(&file, &new))),
        ("hard link", Box::new(|| fs::hard_link(&file, &new))),
        ("mode", Box::new(|| fs::set_permissions(&file, Permissions::from_mode(0o777)))),
        (
            "mode of what is open",
            Box::new(|| File::open(&file)?.set_permissions(Permissions::from_mode(0o777))),
        ),
        ("owner", Box::new(|| chown(&file, Some(1), Some(1)))),
        ("times", Box::new(|| File::open(&file)?.set_modified(SystemTime::UNIX_EPOCH))),
        ("own memory by way of /proc", Box::new(|| fs::write("/proc/self/mem", "x"))),
        ("terminal", Box::new(|| File::open("/dev/tty").map(drop))),
        ("shared memory", Box::new(|| File::create("/dev/shm/bowline-test").map(drop))),
        ("socket file", Box::new(|| UnixListener::bind(&new).map(drop))),
    ];
    all_refused(&rig, attempts);
    let after = fs::metadata(&file).unwrap();
    assert_eq!(after.permissions(), before.permissions());
    assert_eq!(after.modified().unwrap(), before.modified().unwrap());
    assert_eq!(fs::read_to_string(&file).unwrap(), "words\n");
    assert!(!new.exists());
}

#[test]
fn confined_process_reads_only_named_paths() {
    let Some(rig) = Rig::new() else { return };
    let secret = rig.outside.join("file");
    symlink(&secret, rig.project.join("link")).unwrap();
    symlink(&rig.outside, rig.project.join("folder")).unwrap();
    let through_root = Path::new("/proc/self/root").join(secret.strip_prefix("/").unwrap());
    let attempts: Vec<Attempt<'_>> = vec![
        ("file", Box::new(|| fs::read(&secret).map(drop))),
        ("folder", Box::new(|| fs::read_dir(&rig.outside).map(drop))),
        ("link", Box::new(|| fs::read(rig.project.join("link")).map(drop))),
        ("folder behind a link", Box::new(|| fs::read_dir(rig.project.join("folder")).map(drop))),
        ("dots", Box::new(|| fs::read(rig.project.join("../outside/file")).map(drop))),
        ("root of the process", Box::new(|| fs::read(&through_root).map(drop))),
        (
            "home",
            Box::new(|| fs::read_dir(std::env::var("HOME").unwrap_or("/root".into())).map(drop)),
        ),
        ("everything", Box::new(|| fs::read_dir("/").map(drop))),
        ("keys of the system", Box::new(|| fs::read_dir("/etc/ssh").map(drop))),
        ("passwords", Box::new(|| fs::read("/etc/shadow").map(drop))),
    ];
    // Where there is no such folder, nothing is proven, but nothing is read either.
    for (what, attempt) in attempts {
        assert!(rig.attempt(attempt).is_err(), "{what}");
    }
    refused(rig.attempt(|| fs::read(&secret)), "file");
    assert_eq!(rig.attempt(|| fs::read_to_string(rig.file())).unwrap(), "words\n");
}

#[test]
fn confined_process_cannot_reach_the_network() {
    let Some(rig) = Rig::new() else { return };
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let path = rig.project.join("socket");
    let unix = UnixListener::bind(&path).unwrap();
    let address = tcp.local_addr().unwrap();
    let attempts: Vec<Attempt<'_>> = vec![
        ("TCP", Box::new(move || TcpStream::connect(address).map(drop))),
        ("TCP server", Box::new(|| TcpListener::bind("127.0.0.1:0").map(drop))),
        ("UDP", Box::new(|| UdpSocket::bind("127.0.0.1:0").map(drop))),
        ("UDP over IPv6", Box::new(|| UdpSocket::bind("[::1]:0").map(drop))),
        ("Unix", Box::new(|| UnixStream::connect(&path).map(drop))),
        ("Unix datagrams", Box::new(|| UnixDatagram::unbound().map(drop))),
        ("pair of datagram sockets", Box::new(|| UnixDatagram::pair().map(drop))),
    ];
    all_refused(&rig, attempts);
    drop((tcp, udp, unix));
    rig.attempt(|| UnixStream::pair()?.0.write_all(b"among ourselves")).unwrap();
}

#[test]
fn confined_process_cannot_reach_other_processes() {
    let Some(rig) = Rig::new() else { return };
    let mut other = Command::new("sleep").arg("60").env("SECRET", "words").spawn().unwrap();
    let own = std::process::id();
    for pid in [own, other.id()] {
        for name in ["environ", "maps", "mem", "fd/0", "root/etc/hostname", "cwd/file"] {
            let path = format!("/proc/{pid}/{name}");
            let looked = rig.bash(&format!("cat {path} || ls {path}/"));
            assert!(!looked.status.success(), "{path}");
            assert!(looked.stdout.is_empty(), "{path}");
        }
        let killed = rig.bash(&format!("kill -0 {pid}"));
        assert!(!killed.status.success(), "a signal to {pid}");
    }
    assert!(other.try_wait().unwrap().is_none());
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn confined_processes_can_signal_each_other() {
    let Some(rig) = Rig::new() else { return };
    assert_eq!(rig.prints("sleep 60 & kill $!; wait $!; echo $?"), "143");
    assert_eq!(rig.bash("timeout 0.1 sleep 60").status.code(), Some(124));
}

#[test]
fn confined_process_can_be_killed_from_outside() {
    let Some(rig) = Rig::new() else { return };
    let mut command = Command::new("/bin/bash");
    command.args(["-c", "sleep 60 & wait"]).stdin(Stdio::null()).process_group(0);
    let mut child = rig.attempt(|| command.spawn()).unwrap();
    let group = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process_group(group, rustix::process::Signal::TERM).unwrap();
    assert!(!child.wait().unwrap().success());
}

#[test]
fn dropped_rights_cannot_be_regained() {
    let Some(rig) = Rig::new() else { return };
    let status = rig.prints("grep -E '^(NoNewPrivs|Seccomp|CapPrm|CapEff):' /proc/self/status");
    let value = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(value("NoNewPrivs"), "1");
    assert_eq!(value("Seccomp"), "2");
    // Reading what others own is the one that root keeps.
    let kept = u64::from_str_radix(&value("CapPrm"), 16).unwrap();
    assert_eq!(kept & !(1 << 2), 0, "{status}");
    assert!(!rig.bash("unshare -Ur true").status.success());
    assert!(!rig.bash("unshare -n true").status.success());
    assert!(!rig.bash("mount -t tmpfs none /mnt").status.success());
}

#[test]
fn other_threads_stay_unconfined() {
    let Some(rig) = Rig::new() else { return };
    rig.prints("true");
    fs::write(rig.outside.join("new"), "still here").unwrap();
    UdpSocket::bind("127.0.0.1:0").unwrap();
    assert!(Command::new("touch").arg(rig.project.join("new")).status().unwrap().success());
}

#[test]
fn project_programs_cannot_be_executed() {
    let Some(mut rig) = Rig::new() else { return };
    let program = rig.project.join("program");
    fs::copy("/bin/true", &program).unwrap();
    assert_eq!(rig.bash("./program").status.code(), Some(126));
    rig.confinement.executable.push(program);
    assert_eq!(rig.bash("./program").status.code(), Some(0));
}
