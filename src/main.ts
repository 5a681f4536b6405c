import './production-mode.ts'
import { run } from './cli/program.ts'

// All that Cairn stores belongs to the user it runs as, and to nobody else.
process.umask(0o077)

await run(Bun.argv.slice(2))
