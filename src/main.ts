import './production-mode.ts'
import { run } from './cli/program.ts'

await run(Bun.argv.slice(2))
