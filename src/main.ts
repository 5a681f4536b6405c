import './test-clock.ts'
import './production-mode.ts'
import { keepPrivate } from './cli/files.ts'
import { run } from './cli/program.ts'

// Everything that Cairn stores belongs to the user it runs as, and to nobody else.
keepPrivate()

await run(Bun.argv.slice(2))
