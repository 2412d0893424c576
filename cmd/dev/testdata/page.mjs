// Uses the page as a person would: node page.mjs URL PHOTO CHROMIUM.
// Every step that fails ends the program with its reason.
import { chromium } from 'playwright-core'

const [url, photo, executablePath, screenshot] = process.argv.slice(2)
const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-sync', '--disable-background-networking', '--disable-component-update'],
})
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
const complaints = []
page.on('pageerror', (error) => complaints.push(error.message))
page.on('console', (message) => { if (message.type() === 'error') complaints.push(message.text()) })

await page.goto(url)
await page.locator('#empty').waitFor()
await page.setInputFiles('#picker', photo)
const thumbnail = page.locator('#gallery li img')
await thumbnail.waitFor({ timeout: 60000 })
await page.waitForFunction(() => document.querySelector('#gallery img').naturalWidth === 272, null, { timeout: 60000 })

await page.click('#gallery .show')
await page.getByText('image/jpeg, 600 × 338').waitFor({ timeout: 60000 })
await page.fill('[name=width]', '300')
await page.selectOption('[name=format]', 'PNG')
await page.getByText('image/png, 300 × 169').waitFor({ timeout: 60000 })
if (screenshot) await page.screenshot({ path: screenshot, fullPage: true })

await page.selectOption('#user', 'Bob')
await page.locator('#empty').waitFor()
await page.selectOption('#user', 'Alice')
await page.click('#gallery .remove')
await page.locator('#empty').waitFor()
if (await page.locator('#wire li').count() < 8) complaints.push('the wire shows too little')

await browser.close()
if (complaints.length) throw new Error(complaints.join('\n'))
