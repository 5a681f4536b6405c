import { existsSync, realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/**
 * What the packages of Debian, Fedora, Arch, Google and Microsoft call their programs. Headless shells are
 * first: they show pages and do nothing else.
 */
const names = [
  'chrome-headless-shell',
  'chromium-headless-shell',
  'google-chrome-stable',
  'google-chrome',
  'chromium',
  'chromium-browser',
  'microsoft-edge-stable',
  'microsoft-edge',
]

/** Where they stand, on the `PATH` or not. */
const folders = ['/usr/bin', '/usr/local/bin', '/snap/bin']

const places = [
  '/opt/google/chrome/chrome',
  '/usr/lib/chromium/chromium',
  '/usr/lib64/chromium-browser/chromium-browser',
  '/opt/microsoft/msedge/msedge',
]

const macApps = ['Google Chrome', 'Chromium', 'Microsoft Edge']

/**
 * Every headless shell, Chrome, Chromium and Edge that is installed on this machine, in this order: the
 * paths of their programs.
 *
 * @param path the folders of the `PATH`
 * @param root where the file system begins
 */
export function installedBrowsers(path: string, home: string, root = '/'): string[] {
  const onPath = [...path.split(delimiter).filter(Boolean), ...folders]
  const candidates = [
    ...names.flatMap(name => onPath.map(folder => join(folder, name))),
    ...places,
    ...macApps.flatMap(app =>
      ['/Applications', join(home, 'Applications')].map(folder =>
        join(folder, `${app}.app`, 'Contents/MacOS', app),
      ),
    ),
  ].map(candidate => join(root, candidate))
  const found = new Map<string, string>()
  for (const candidate of candidates.filter(existsSync)) {
    const program = realpathSync(candidate)
    if (!found.has(program)) found.set(program, candidate)
  }
  return [...found.values()]
}
