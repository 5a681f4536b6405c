import { chmodSync, chownSync, copyFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Finished, finished } from '../../scripts/support/finished.ts'
import { builtBinary, type Workplace } from './binary.ts'

/** The user that the kernel calls nobody. Root may write despite its rights, so root's tests run as this user. */
const nobody = 65_534

const isRoot = process.getuid?.() === 0

/** A user of a workplace to whom file rights apply: the current one, or nobody if that is root. */
export class Owner {
  private constructor(
    private readonly place: Workplace,
    private readonly binary: string,
  ) {}

  static async of(place: Workplace): Promise<Owner> {
    const built = await builtBinary()
    if (!isRoot) return new Owner(place, built)
    // The user nobody may not be able to reach the folder in which it was built.
    const binary = join(place.folder, 'cairn')
    copyFileSync(built, binary)
    chmodSync(binary, 0o755)
    chownSync(place.folder, nobody, nobody)
    return new Owner(place, binary)
  }

  /** Gives a directory and what is in it to this user. */
  takes(directory: string): void {
    if (!isRoot) return
    const files = readdirSync(directory).map(name => join(directory, name))
    for (const path of [directory, ...files]) chownSync(path, nobody, nobody)
  }

  async run(args: string[]): Promise<Finished> {
    const as = isRoot ? ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups'] : []
    return finished(
      Bun.spawn([...as, this.binary, ...args], {
        cwd: this.place.folder,
        env: { PATH: process.env.PATH },
        stdout: 'pipe',
        stderr: 'pipe',
      }),
    )
  }
}
