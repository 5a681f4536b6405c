import { resolve } from 'node:path'
import { Argument } from 'commander'
import type { Command } from './command.ts'
import { print, printColumns, printJson } from './output.ts'
import { type FileChange, installService, uninstallService } from './service/install.ts'
import { planOf, type ServiceOptions } from './service/plan.ts'
import { settingsTemplate, unitFile } from './service/unit.ts'

export function addService(cairn: Command): void {
  const service = cairn
    .command('service')
    .description('run the server with systemd')
    .examples('sudo cairn service install', 'cairn service show')
  addInstall(service)
  addUninstall(service)
  addShow(service)
}

/** The options from which a unit is made. */
const planned = (command: Command) =>
  command
    .option('--name <name>', 'name of the unit', 'cairn')
    .option('--user <name>', 'user and group that it runs as, made if missing', 'cairn')
    .option(
      '--data <dir>',
      'directory that holds everything Cairn stores (default: /var/lib/cairn)',
    )
    .option('--config <file>', 'its settings file', '/etc/cairn/cairn.env')
    .option('--binary <file>', 'the program that it runs (default: this one)')
    .option('--memory-max <size>', 'memory limit at which it is restarted, such as 1G')
    .option('--root <dir>', 'work on an image below this directory; runs nothing', rootOf, '')

const rootOf = (path: string) => resolve(path)

function addInstall(service: Command): void {
  planned(service.command('install'))
    .description('install a unit, settings and a user for systemd, as root; starts nothing')
    .option('--json', 'print {unit, files: [{path, did}]} as JSON')
    .examples(
      'sudo cairn service install',
      'sudo cairn service install --data /srv/cairn --memory-max 2G',
      'cairn service install --root ./image --binary /usr/bin/cairn',
    )
    .action((options: ServiceOptions & { json?: boolean }) => {
      const plan = planOf(options)
      const files = installService(plan, options.root)
      if (options.json) return printJson({ unit: `${plan.name}.service`, files })
      printChanges(files)
      const { name, user, config } = plan
      const has = (done: FileChange['did']) => files.some(({ did }) => did === done)
      const next = has('written')
        ? `Settings: ${config}. Then, to start it now and at boot:`
        : has('replaced')
          ? `Settings: ${config}. Then, to apply the changes:`
          : `Nothing was changed. After a change of the settings, ${config}:`
      print(
        '',
        next,
        `  systemctl ${has('written') ? 'enable --now' : 'restart'} ${name}`,
        'Commands run as its user, for instance:',
        `  sudo -u ${user} cairn org create "Harbor Inc" --config ${config}`,
      )
    })
}

function addUninstall(service: Command): void {
  service
    .command('uninstall')
    .description('stop the service and remove its unit, as root; data, settings and user stay')
    .option('--name <name>', 'name of the unit', 'cairn')
    .option('--root <dir>', 'work on an image below this directory; runs nothing', rootOf, '')
    .option('--json', 'print {unit, files: [{path, did}]} as JSON')
    .examples('sudo cairn service uninstall', 'sudo cairn service uninstall --name cairn-test')
    .action(({ name, root, json }: { name: string; root: string; json?: boolean }) => {
      const files = uninstallService(name, root)
      if (json) printJson({ unit: `${name}.service`, files })
      else printChanges(files)
    })
}

const printChanges = (files: readonly FileChange[]) =>
  printColumns(files.map(({ path, did }) => [did, path]))

function addShow(service: Command): void {
  const what = new Argument('[what]', 'what to print').choices(['unit', 'settings']).default('unit')
  planned(service.command('show'))
    .description('print the unit, or the settings file, that install would write; writes nothing')
    .addArgument(what)
    .examples(
      'cairn service show',
      'cairn service show --binary /usr/bin/cairn > cairn.service',
      'cairn service show settings > cairn.env',
    )
    .action((shown: 'unit' | 'settings', options: ServiceOptions) => {
      const plan = planOf(options)
      print((shown === 'unit' ? unitFile(plan) : settingsTemplate(plan.data)).trimEnd())
    })
}
