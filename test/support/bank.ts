import { openForWriting } from '../../src/storage/sqlite/database/database.ts'

/**
 * A process that changes a database as fast as it can. After each transaction a law holds: the balances
 * of all accounts add up to zero, and each transaction has opened `opened` accounts.
 *
 *     bun bank.ts DATA ACCOUNTS
 *
 * It prints "open" once the accounts are there, and goes on until it is killed.
 */

export const opened = 5

/** Makes a row about a page long, so that the database is large compared with what a transaction changes. */
const padding = 2_000

if (import.meta.main) {
  const [dataDir = '', accounts = '1000'] = Bun.argv.slice(2)
  const count = Number(accounts)
  const database = openForWriting(dataDir)
  database.run('create table accounts (id integer primary key, balance integer, padding blob)')
  database.run('create table transfers (count integer)')
  database.run('insert into transfers values (0)')
  const open = database.query(
    `insert into accounts (balance, padding) values (0, randomblob(${padding}))`,
  )
  database.transaction(() => {
    for (let i = 0; i < count; i++) open.run()
  })()
  console.log('open')
  const pay = database.query(
    `update accounts set balance = balance + ?, padding = randomblob(${padding}) where id = ?`,
  )
  const anyAccount = () => 1 + Math.floor(Math.random() * count)
  const transfer = database.transaction(() => {
    for (let i = 0; i < 40; i++) {
      pay.run(1, anyAccount())
      pay.run(-1, anyAccount())
    }
    for (let i = 0; i < opened; i++) open.run()
    database.run('update transfers set count = count + 1')
  })
  for (;;) transfer.immediate()
}
