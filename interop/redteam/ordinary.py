"""Commands that a coding agent uses all day: they run without approval in a plain folder, after every change of the rules."""

from case import Case, table
from world import World


def project(world: World) -> None:
    """A repository with two commits and something changed."""
    world.repository()
    world.write({"b.txt": "delta\n", "src/util.rs": "pub fn util() {}\n", "package.json": '{"name":"p","scripts":{"test":"x"}}\n'})
    world.git("add", "-A")
    world.git("commit", "-q", "-m", "second")
    world.git("tag", "v1")
    world.git("remote", "add", "origin", "https://example.invalid/p.git")
    world.write({"a.txt": "alpha\nchanged\n", "new.txt": "new\n", "app.log": "error one\ninfo two\nerror three\n"})


COMMANDS = """
ls
ls -la
ls -la src
ls -lah .
ls -l *.txt
ls -R src
ls -1 src
ls -t
ls -d */
ls -a src/
pwd
whoami
id
uname -a
date
date +%Y-%m-%d
date -u +%FT%TZ
hostname
uptime
nproc
df -h
du -sh .
du -sh src
du -h --max-depth=1 .
free -m
ps aux
ps -ef
ps aux | grep node
cat a.txt
cat README.md package.json
cat -n src/main.rs
cat src/*.rs
head a.txt
head -n 20 README.md
head -20 a.txt
head -c 100 a.txt
tail a.txt
tail -n 5 app.log
tail -5 app.log
tail -n +2 a.txt
wc -l a.txt
wc -l src/*.rs
wc src/main.rs
sort a.txt
sort -u a.txt
sort -n a.txt
sort -k 2 a.txt
sort -t , -k 1 a.txt
sort -rn a.txt
uniq a.txt
sort a.txt | uniq -c
sort a.txt | uniq -c | sort -rn | head -5
cut -d , -f 1 a.txt
cut -c 1-10 a.txt
tr a-z A-Z < a.txt
cat a.txt | tr -d '\\n'
paste a.txt b.txt
column -t a.txt
nl a.txt
tac a.txt
rev a.txt
diff a.txt b.txt
diff -u a.txt b.txt
cmp a.txt b.txt
comm a.txt b.txt
file a.txt
stat a.txt
stat -c %s a.txt
md5sum a.txt
sha256sum a.txt
base64 a.txt
od -c a.txt
hexdump -C a.txt
strings a.txt
realpath a.txt
readlink -f a.txt
basename src/main.rs
dirname src/main.rs
which git
which node python3
type ls
command -v git
command -v cargo
echo hello
echo "hello world"
echo $HOME
echo $PATH
echo $?
printf '%s\\n' hello
true
sleep 0.1
seq 1 5
expr 1 + 2
test -f a.txt && echo yes
[ -f a.txt ] && echo yes
[ -d src ] && ls src
[[ -f a.txt ]] && echo yes
[[ 1 -eq 1 ]] && echo one
grep alpha a.txt
grep -n alpha a.txt
grep -rn TODO src
grep -rn "fn main" .
grep -ri todo .
grep -rl TODO .
grep -c error app.log
grep -v error app.log
grep -E 'error|info' app.log
grep -A 2 -B 1 error app.log
grep -C 1 error app.log
grep -rn --include='*.rs' TODO .
grep -rn --exclude-dir=.git TODO .
grep -w alpha a.txt
grep -o 'err[a-z]*' app.log
grep -q alpha a.txt && echo found
grep -F alpha a.txt
grep -P 'al.ha' a.txt
rg TODO
rg -n TODO src
rg -l TODO
rg -i todo
rg --files
rg -t rust TODO
rg -g '*.rs' TODO
rg -C 2 TODO src
fd main
fd -e rs
tree
tree -L 2
tree src
find .
find . -name '*.rs'
find . -type f
find . -type f -name '*.txt'
find src -name main.rs
find . -maxdepth 2 -type d
find . -not -path './.git/*' -type f
find . -name '*.rs' -o -name '*.txt'
find . -iname 'readme*'
find . -type f -size +1k
find . -mtime -1
find . -name '*.rs' | head -5
find . -name '*.rs' | wc -l
sed -n 1,5p a.txt
sed -n '1,5p' a.txt
sed -n '/alpha/p' a.txt
sed 's/alpha/beta/' a.txt
sed -n '$p' a.txt
jq . package.json
jq .name package.json
jq -r .name package.json
jq '.scripts | keys' package.json
cat package.json | jq .scripts
git status
git status -s
git status --short
git status --porcelain
git log
git log --oneline
git log --oneline -5
git log -n 3
git log -1
git log --stat
git log -p -1
git log --graph --oneline --all
git log --since=yesterday
git log --author=u
git log --format=%H
git log --pretty=format:'%h %s' -5
git log -- a.txt
git diff
git diff --stat
git diff --name-only
git diff --cached
git diff --staged
git diff HEAD
git diff HEAD~1
git diff HEAD~1 HEAD
git diff HEAD~1 -- b.txt
git diff a.txt
git show
git show HEAD
git show HEAD~1
git show --stat
git show HEAD:a.txt
git show --name-only HEAD
git branch
git branch -a
git branch -vv
git branch -v
git branch --show-current
git branch --list
git tag
git tag -l
git remote
git remote -v
git remote get-url origin
git rev-parse HEAD
git rev-parse --abbrev-ref HEAD
git rev-parse --show-toplevel
git rev-list --count HEAD
git ls-files
git ls-files src
git ls-files --others --exclude-standard
git ls-tree HEAD
git ls-tree -r HEAD --name-only
git blame a.txt
git blame -L 1,2 a.txt
git shortlog -sn HEAD
git describe --tags
git describe --always
git stash list
git reflog
git config --get user.name
git cat-file -p HEAD
git merge-base HEAD HEAD~1
git grep alpha
git grep -n TODO
git for-each-ref
git worktree list
git check-ignore a.txt
git --no-pager log -3
git --no-pager diff
git -C src status
git --version
node --version
node -v
npm --version
python3 --version
cargo --version
rustc --version
go version
bash --version
make --version
gcc --version
docker --version
cd src && ls
cd src && grep -n TODO main.rs
cd src; pwd
ls; pwd; whoami
ls && echo ok
ls nothing || echo none
ls 2>/dev/null
ls nothing 2>&1
ls > /dev/null
cat a.txt | grep alpha | wc -l
cat a.txt | sort | uniq -c | sort -rn
for f in a b; do echo $f; done
for f in *.txt; do echo $f; done
if [ -f a.txt ]; then cat a.txt; fi
x=1; echo $x
cat <<'E'\\nhello\\nE
cat <<E\\nhello\\nE
(ls; pwd)
{ ls; }
ls & pwd
time ls
timeout 5 ls
timeout 10 git status
nice ls
echo {a,b}
LANG=C sort a.txt
LC_ALL=C ls
""".strip("\n").split("\n")

CASES = table(
    "ordinary",
    *(Case(f"{number:03}", None, twin=line.replace("\\n", "\n") if "<<" in line else line)
      for number, line in enumerate(dict.fromkeys(COMMANDS))),
    setup=project,
)
assert len(CASES) >= 137, "the table of ordinary commands must not shrink"
