import type { ColumnPaths } from '../../../interfaces/analytics.ts'

/** The paths of runs, each kept once however many runs have it. */
export class WayBuilder {
  private readonly places: Uint16Array
  private readonly paths: (readonly number[])[] = []
  private readonly known = new Map<string, number>()

  /** @param capacity the most runs that there can be: those of a page, so that paths have room */
  constructor(capacity: number) {
    this.places = new Uint16Array(capacity)
  }

  /** @param path places of the steps that the run viewed, in the order of time */
  set(run: number, path: readonly number[]): void {
    const name = path.join()
    let place = this.known.get(name)
    if (place === undefined) {
      place = this.paths.push(path) - 1
      this.known.set(name, place)
    }
    this.places[run] = place
  }

  finished(count: number): ColumnPaths {
    return { distinct: this.paths, places: this.places.subarray(0, count) }
  }
}
