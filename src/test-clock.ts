/**
 * Moves the wall clock of this thread, if a test wants another time than the machine's. Imported before anything
 * that reads a clock. `CAIRN_TEST_NOW` is an instant (RFC 3339), with `@` and epoch milliseconds after it
 * if it was that instant at that time of the machine: so programs that start at different times agree.
 */
const { env } = process

/** How far the clock was moved, milliseconds. */
export const movedBy = offsetOf(env.CAIRN_TEST_NOW)
if (movedBy !== 0) moveClock(globalThis, movedBy)

function offsetOf(wanted: string | undefined): number {
  if (!wanted) return 0
  const [instant = '', since = `${Date.now()}`] = wanted.split('@')
  const offset = Date.parse(instant) - Number(since)
  if (Number.isNaN(offset)) {
    process.stderr.write(
      `cairn: CAIRN_TEST_NOW is "${wanted}": write an instant such as 2026-12-31T23:59:00Z, or unset it\n`,
    )
    process.exit(2)
  }
  // Threads and programs that this one starts have the same clock.
  env.CAIRN_TEST_NOW = `${instant}@${since}`
  return offset
}

/** Self-contained, so that a test can run its text in a page. */
export function moveClock(realm: { Date: DateConstructor }, offsetMs: number): void {
  const { Date: MachineDate } = realm
  const machineNow = MachineDate.now
  MachineDate.now = () => machineNow() + offsetMs
  realm.Date = new Proxy(MachineDate, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length === 0 ? [target.now()] : args, newTarget),
    apply: target => new target(target.now()).toString(),
  })
  MachineDate.prototype.constructor = realm.Date
}
