import './process-one.ts'
import './test-clock.ts'
import './production-mode.ts'

// Loaded only now, so that nothing comes before what process 1 needs.
const { keepPrivate } = await import('./cli/files.ts')
const { run } = await import('./cli/program.ts')

// Everything that Cairn stores belongs to the user it runs as, and to nobody else.
keepPrivate()

await run(Bun.argv.slice(2))
