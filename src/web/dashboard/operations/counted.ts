import type { Column } from '../parts/table.tsx'
import { serverWords as words } from '../words/server.ts'
import { formatCount } from '../words/time.ts'
import { formatRate } from './amounts.ts'

/** How often something was counted: lately, and in total. */
export const countedColumns: Column<{ perSecond: number; total: number }>[] = [
  {
    name: words.rate,
    isNumber: true,
    cell: ({ perSecond }) => formatRate(perSecond),
  },
  {
    name: words.sinceStart,
    isNumber: true,
    cell: ({ total }) => formatCount(total),
  },
]
