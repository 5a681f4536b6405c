import type { Interval } from '../analytics/question.ts'

/** Texts about how long runs took, and about days that are put together. */
export const durationWords = {
  title: 'Time to complete',
  caption: 'Completed runs by how long they took.',
  took: 'Took',
  runs: 'Runs',
  share: 'Share',
  under: (edge: string) => `under ${edge}`,
  between: (from: string, to: string) => `${from} – ${to}`,
  over: (edge: string) => `${edge} or more`,
  median: (time: string) => `median ${time}`,
  p90: (time: string) => `p90 ${time}`,
  picture: (runs: string, median: string, p90: string, most: string) =>
    `${runs} completed runs: median ${median}, p90 ${p90}, most of them ${most}. The table below has every bar.`,
  timed: (runs: string) => `${runs} completed runs`,
  otherRuns: (name: string) => `Runs, ${name}`,
  otherShare: (name: string) => `Share, ${name}`,
  otherTimed: (name: string, runs: string, median: string, p90: string) =>
    `${name}: ${runs}, median ${median}, p90 ${p90}`,
  otherCsv: (name: string) => `CSV of ${name}`,
  otherTooFew: (name: string) =>
    `${name} has under five completed runs: too few to draw behind these.`,
  tooFew: 'Under five completed runs: too few to say how long they take.',
}

interface IntervalWords {
  option: string
  by: string
  caption: string
  head: string
  choose: string
  until(time: string): string
}

export const intervalWords: Record<Interval, IntervalWords> = {
  day: {
    option: 'Day',
    by: 'Runs by day',
    caption: 'Runs that started each day, by how they ended.',
    head: 'Day',
    choose: 'Day of the chart; arrow keys move',
    until: time => `today, until ${time}`,
  },
  week: {
    option: 'Week',
    by: 'Runs by week',
    caption: 'Runs that started each week, by how they ended.',
    head: 'Week',
    choose: 'Week of the chart; arrow keys move',
    until: time => `this week, until ${time}`,
  },
  month: {
    option: 'Month',
    by: 'Runs by month',
    caption: 'Runs that started each month, by how they ended.',
    head: 'Month',
    choose: 'Month of the chart; arrow keys move',
    until: time => `this month, until ${time}`,
  },
}

export const periodWords = {
  legend: 'Runs by',
  weekOf: (day: string) => `Week of ${day}`,
  part: { day: '', week: 'part of a week', month: 'part of a month' },
  days: (from: string, to: string, part: string) => `${from} – ${to}, ${part}`,
  oneDay: (day: string, part: string) => `${day}, ${part}`,
}
