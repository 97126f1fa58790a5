import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'
import { canInstallPackages, installPackage } from '../../../tools/src/engines/debian-packages.ts'

/** Debian's Chromium without windows. It has the same engine as the whole browser, and takes half of its processor time. */
const shellPath = '/usr/bin/chromium-headless-shell'
const browserPath = '/usr/bin/chromium'

/** Starts Debian's Chromium, and installs it if it is missing. */
export async function launchChromium(): Promise<Browser> {
  // The whole browser is good enough for a contributor, who may have no network.
  const isWanted = process.env['CI'] === 'true' || !existsSync(browserPath)
  if (!existsSync(shellPath) && isWanted && canInstallPackages()) await installShell()
  const executablePath = [shellPath, browserPath].find((path) => existsSync(path))
  if (executablePath === undefined) {
    throw new Error(
      'chromium is missing: install it (on Debian: apt-get install chromium-headless-shell).',
    )
  }
  // CI machines run as root, and there Chromium only starts without its sandbox.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
  return chromium.launch({ executablePath, args })
}

/** If the package cannot be installed, the whole browser is used if there is one. */
async function installShell(): Promise<void> {
  try {
    // Without a font, screenshots would show empty boxes.
    await installPackage('fonts-liberation', console.log)
    await installPackage('chromium-headless-shell', console.log)
  } catch (error) {
    if (!existsSync(browserPath)) throw error
  }
}
