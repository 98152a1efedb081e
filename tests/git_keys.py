"""Every key of git-config(1) that names a program, or a file or word by which one is found."""

COMMANDS = (
    "browser.any.cmd", "core.alternateRefsCommand", "core.askPass", "core.editor", "core.fsmonitor",
    "core.gitProxy", "core.pager", "core.sshCommand", "credential.helper", "credential.https://example.com.helper",
    "diff.any.command", "diff.any.textconv", "diff.external", "difftool.any.cmd", "difftool.any.path",
    "filter.one.clean", "filter.one.smudge", "filter.many.process", "filter.a=b.clean", "filter.a=b.smudge",
    "gpg.program", "gpg.openpgp.program", "gpg.x509.program", "gpg.ssh.program", "gpg.ssh.defaultKeyCommand",
    "guitool.any.cmd", "help.browser", "imap.tunnel", "instaweb.browser", "instaweb.httpd",
    "interactive.diffFilter", "lfs.customtransfer.any.path", "lfs.extension.any.clean", "lfs.extension.any.smudge",
    "man.any.cmd", "man.any.path", "merge.any.driver", "mergetool.any.cmd", "mergetool.any.path",
    "browser.any.path", "pager.status", "pager.rev-list", "pager.config", "receive.procReceiveRefs",
    "remote.origin.receivepack",
    "remote.origin.uploadpack", "sendemail.ccCmd", "sendemail.toCmd", "sendemail.headerCmd",
    "sendemail.smtpServer", "sendemail.sendmailCmd", "sequence.editor", "trailer.any.cmd", "trailer.any.command",
    "uploadpack.packObjectsHook", "web.browser",
)  # fmt: skip
"""Keys whose value is a command."""

SHELLED = ("alias.status", "alias.rev-parse", "alias.rev-list", "alias.config", "alias.ls-files", "alias.worktree",
           "alias.submodule", "submodule.module.update")  # fmt: skip
"""Keys whose value is a command after an exclamation mark."""

CHOICES = {
    "core.hooksPath": "{hooks}", "init.templateDir": "{hooks}", "diff.tool": "any", "diff.guitool": "any",
    "merge.tool": "any", "merge.guitool": "any", "remote.origin.vcs": "trap", "remote.origin.proxy": "ext::false",
    "http.proxy": "http://127.0.0.1:9/", "gpg.format": "openpgp", "log.showSignature": "true",
    "filter.one.required": "true", "filter.many.required": "true", "filter.a=b.required": "true",
    "protocol.allow": "always", "protocol.ext.allow": "always", "core.repositoryFormatVersion": "1",
    "remote.origin.promisor": "true", "remote.origin.partialCloneFilter": "blob:none",
    "extensions.partialClone": "origin", "lfs.standalonetransferagent": "any", "submodule.recurse": "true",
    "fetch.recurseSubmodules": "true", "maintenance.auto": "true", "gc.auto": "1", "diff.submodule": "diff",
    "transfer.hideRefs": "refs/none", "core.untrackedCache": "true",
}  # fmt: skip
"""Keys that choose among programs, lead to them, or have git start one sooner."""

NO_PROGRAM = (
    "advice.*", "color.pager", "clean.requireForce", "clone.filterSubmodules", "column.clean", "commit.cleanup",
    "commit.template", "commitGraph.maxNewFilters", "completion.commands", "core.fsmonitorHookVersion",
    "fsmonitor.*", "fsck.*",
    "diff.<driver>.*", "gitcvs.dbDriver", "gui.*", "guitool.<name>.*", "http.proxy*", "include.path",
    "includeIf.*", "merge.<driver>.*", "notes.rewrite.<command>", "push.*", "rebase.*", "receive.fsck.*",
    "receive.shallowUpdate", "remote.<name>.proxyAuthMethod", "remote.<name>.skipDefaultUpdate", "rerere.*",
    "sendemail.alias*", "sendemail.smtpServer*", "stash.*", "uploadpack.allowFilter", "uploadpackfilter.*",
)  # fmt: skip
"""Keys that sound like one of a program and name none; included files are read, and what they say is a setting."""
