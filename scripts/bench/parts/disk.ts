import type { Bench, Found } from '../bench.ts'

const part = 'disk'

/** What a long history takes on disk after a clean stop, with all that is kept beside its events. */
export async function disk(bench: Bench): Promise<Found> {
  const { events, diskBytes, jsonBytes } = await bench.filled()
  const what = `an event on disk, ${(events / 1e6).toLocaleString('en-US')} M stored`
  return {
    figures: [
      {
        part,
        what: `${what}; beside its JSON`,
        unit: 'bytes',
        cairn: [diskBytes / events],
        beside: [jsonBytes / events],
        goal: 'at most 1.6 ×',
        most: 1.6,
      },
    ],
  }
}
