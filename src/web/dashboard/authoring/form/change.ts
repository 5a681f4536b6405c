export { type Change, change } from '../../../../core/flow/edit/change.ts'
