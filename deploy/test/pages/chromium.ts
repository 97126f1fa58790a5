import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'
import { canInstallPackages, installPackage } from '../../../tools/src/engines/debian-packages.ts'

const executablePath = '/usr/bin/chromium'

/** Debian's Chromium, installed where it is missing. */
export async function launchChromium(): Promise<Browser> {
  if (!existsSync(executablePath)) {
    if (!canInstallPackages()) {
      throw new Error('chromium is missing: install it (on Debian: apt-get install chromium).')
    }
    // Without a font every picture would be of empty boxes.
    await installPackage('fonts-liberation', console.log)
    await installPackage('chromium', console.log)
  }
  // As root, which is what machines of continuous integration run as, Chromium starts without its sandbox alone.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ executablePath, args })
}
