import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from '../../scripts/support/finished.ts'

const script = join(import.meta.dir, '../../scripts/arm64')

test.skipIf(process.platform !== 'linux' || process.arch === 'arm64')(
  'without the emulator, scripts/arm64 says what to install, and ends with a status of its own',
  async () => {
    const path = mkdtempSync(join(tmpdir(), 'cairn-path-'))
    try {
      for (const name of ['dirname', 'uname']) symlinkSync(Bun.which(name)!, join(path, name))
      const env = { PATH: path }
      const ended = await finished(Bun.spawn([script], { env, stdout: 'pipe', stderr: 'pipe' }))
      expect(ended).toEqual({
        status: 3,
        stdout: '',
        stderr:
          'cairn: cannot be tried here: apt-get install qemu-user-static, then run this again\n',
      })
    } finally {
      rmSync(path, { recursive: true })
    }
  },
)
