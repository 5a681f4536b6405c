import { Demo } from '../support/demo.ts'
const demo = await Demo.open({ at: Date.parse('2026-09-17T12:05:00Z') })
const shots = process.argv.slice(2)
async function snap(page: any, name: string) { await page.screenshot({ path: `/work/notes/${name}.png` }) }
try {
  for (const [what, path = ''] of shots.map(s => s.split('='))) {
    const { page } = await demo.page({ viewport: { width: 1200, height: 700 } })
    try {
      if (what === 'launcher') {
        await page.goto(`${demo.site}/home?as=cleo`)
        await page.getByRole('dialog').first().waitFor()
        await snap(page, 'l0')
        await page.keyboard.press('Escape')
        await page.getByRole('button', { name: /Help and news/ }).click()
        for (const at of [200, 600, 1500]) { await page.waitForTimeout(at); console.log(await page.getByRole('dialog').allInnerTexts()) }
        await snap(page, 'l2')
        console.log(await page.locator('[data-cairn]').last().evaluate((e: any) => [...document.querySelectorAll('[data-cairn]')].map((h: any) => [h.getAttribute('data-cairn'), [...(h.shadowRoot?.querySelectorAll('[role=dialog]') ?? [])].map((d: any) => d.outerHTML.slice(0, 200))])))
      } else if (what === 'builder') {
        await page.goto(`${demo.home}/flows/welcome/edit`)
        await page.getByRole('button', { name: 'Build on your page' }).click()
        const dialog = page.getByRole('dialog')
        await page.waitForTimeout(1000)
        await snap(page, 'b0')
        await dialog.getByLabel('Page URL').fill(`${demo.site}/home`)
        const [on] = await Promise.all([
          page.context().waitForEvent('page'),
          dialog.getByRole('button', { name: 'Open page' }).click(),
        ])
        await on.setViewportSize({ width: 1200, height: 700 })
        await on.waitForTimeout(3000)
        await snap(on, 'b1')
        await snap(page, 'b2')
        const bar = on.getByRole('region', { name: 'Cairn builder' })
        console.log(await bar.innerText())
        await bar.getByRole('button').nth(2).click()
        await on.waitForTimeout(1500)
        await snap(on, 'b3')
      } else {
        await page.goto(demo.home + path)
        await page.waitForTimeout(2500)
        await snap(page, what!)
      }
    } catch (error) { console.log(String(error).slice(0, 600)); await snap(page, `${what}-error`) }
    await page.context().close()
  }
} finally { await demo.close() }
process.exit(0)
