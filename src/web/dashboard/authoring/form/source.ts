export * from '../../../../core/flow/edit/source.ts'
