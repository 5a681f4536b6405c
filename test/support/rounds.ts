/** How many random examples a property is tried with: in `scripts/test --long` all, otherwise a fifth. */
export const rounds = (all: number): number =>
  process.env.CAIRN_TEST_LONG ? all : Math.ceil(all / 5)
