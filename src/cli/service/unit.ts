/** What the service is made of, as `cairn service install` was asked. */
export interface ServicePlan {
  /** Of the unit, without `.service`. */
  name: string
  /** The user and group that it runs as. */
  user: string
  /** Absolute paths. */
  binary: string
  data: string
  config: string
  /** Where scheduled backups go, an absolute path; null where none are. */
  backupDir: string | null
  /** As systemd takes it, such as `1G`; null for no limit. */
  memoryMax: string | null
  /** Whether it listens on a port under 1024, which takes a right of root's. */
  hasLowPort: boolean
}

/** By its first line, a file is known to be ours to replace and to remove. */
export const marker = '# Written by "cairn service install"'

/** Users that the service needs (sysusers.d(5)). */
export const usersFile = ({ user, data }: ServicePlan) =>
  `${marker}.\nu ${user} - "Cairn" ${data} -\n`

/** Whose the data directory and the settings are, which may hold a secret (tmpfiles.d(5)). */
export const rightsFile = ({ user, data, config }: ServicePlan) =>
  `${marker}.\nd ${data} 0700 ${user} ${user} -\nz ${config} 0640 root ${user} -\n`

/** Only a port under 1024 takes a capability, which a namespace of users would take away. */
const privileges = ({ hasLowPort }: ServicePlan) =>
  hasLowPort
    ? 'CapabilityBoundingSet=CAP_NET_BIND_SERVICE\nAmbientCapabilities=CAP_NET_BIND_SERVICE'
    : 'CapabilityBoundingSet=\nPrivateUsers=yes'

/** The unit (systemd.service(5), systemd.exec(5)). */
export function unitFile(plan: ServicePlan): string {
  const { name, user, binary, data, config, memoryMax, backupDir } = plan
  return `${marker}. To change it, run "systemctl edit ${name}":
# what stands there survives the next install.

[Unit]
Description=Cairn: product tours, checklists and announcements
Wants=network-online.target
After=network-online.target
RequiresMountsFor=${data}
StartLimitIntervalSec=5min
StartLimitBurst=10

[Service]
Type=notify
ExecStart=${binary} serve
ExecReload=kill -HUP $MAINPID
Environment=CAIRN_CONFIG=${config}
User=${user}
Group=${user}
UMask=0077
WorkingDirectory=${data}

# A wrong configuration (2) does not heal by a restart, all else may.
Restart=on-failure
RestartSec=1s
RestartPreventExitStatus=2
# A new release may first bring a large database up to date.
TimeoutStartSec=infinity
# Requests have 10 s to finish, then what is buffered is stored.
TimeoutStopSec=45s
# It reports every second; it stops to when one of its threads is stuck.
WatchdogSec=60s
# It may be killed at any moment, and has nothing to say of an abort.
WatchdogSignal=SIGKILL

LimitNOFILE=65536
# A core dump would hold keys and people's data.
LimitCORE=0
${memoryMax === null ? '' : `MemoryMax=${memoryMax}\n`}
# It writes its data and backups, and nothing else. No MemoryDenyWriteExecute=: its JavaScript is compiled as it
# runs. No LimitAS=: it reserves far more addresses than it uses memory.
ProtectSystem=strict
ReadWritePaths=${[data, ...(backupDir === null ? [] : [`-${backupDir}`])].join(' ')}
ProtectHome=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateMounts=yes
NoNewPrivileges=yes
${privileges(plan)}
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProcSubset=pid
LockPersonality=yes
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM

[Install]
WantedBy=multi-user.target
`
}
