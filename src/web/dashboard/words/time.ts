/** Until every caller imports it from there. */
export * from '../parts/format.ts'
