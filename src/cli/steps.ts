import type { Command } from './command.ts'
import { checkRow } from './steps-check.ts'
import { pinRow } from './steps-pin.ts'
import { repairRow } from './steps-repair.ts'
import { addGroup } from './table.ts'

export function addSteps(cairn: Command): void {
  const steps = {
    name: 'steps',
    about: 'check that pages still have the elements that steps point at',
    examples: [
      'cairn steps check',
      'cairn steps check --flow welcome --json',
      'cairn steps pin --flow welcome',
      'cairn steps repair welcome create',
    ],
  }
  addGroup(cairn, steps, [checkRow, pinRow, repairRow])
}
