import { StepReader } from '../../sqlite/steps/step-reader.ts'
import type { Queries } from '../database/connection.ts'

/** Step health, and what it is based on. */
export const stepReaderOver = (queries: Queries): StepReader =>
  new StepReader(queries, {
    page: `split_part(split_part(url, '?', 1), '#', 1)`,
    collation: '"C"',
  })
