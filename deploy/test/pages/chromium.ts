import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'
import { canInstallPackages, installPackage } from '../../../tools/src/engines/debian-packages.ts'

const executablePath = '/usr/bin/chromium'

/** Starts Debian's Chromium, and installs it if it is missing. */
export async function launchChromium(): Promise<Browser> {
  if (!existsSync(executablePath)) {
    if (!canInstallPackages()) {
      throw new Error('chromium is missing: install it (on Debian: apt-get install chromium).')
    }
    // Without a font, screenshots would show empty boxes.
    await installPackage('fonts-liberation', console.log)
    await installPackage('chromium', console.log)
  }
  // CI machines run as root, and there Chromium only starts without its sandbox.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ executablePath, args })
}
