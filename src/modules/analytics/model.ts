import { type Static, Type } from '@sinclair/typebox'

const Range = {
  from: Type.Optional(Type.String()),
  to: Type.Optional(Type.String()),
  timezone: Type.Optional(Type.String()),
  version: Type.Optional(
    Type.String({ pattern: '^[1-9][0-9]{0,8}$', description: 'the number of a version' }),
  ),
}

export const AnalyticsQuery = Type.Object(Range)
export type AnalyticsQuery = Static<typeof AnalyticsQuery>

export const ExportQuery = Type.Object({
  ...Range,
  bom: Type.Optional(Type.Union([Type.Literal('0'), Type.Literal('1')])),
  rows: Type.Optional(Type.Union([Type.Literal('runs'), Type.Literal('events')])),
})
export type ExportQuery = Static<typeof ExportQuery>
