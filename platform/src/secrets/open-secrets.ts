import { secretSetting } from '../config/settings.ts'
import type { Logger } from '../observability/logger.ts'
import { readOrMakeKeyFile, secretKeyFile } from './key-file.ts'
import { SecretBox, type SecretPlace } from './secret-box.ts'
import { SecretKeysMissingError } from './secret-errors.ts'
import { parseSecretKeys, type SecretKeys } from './secret-keys.ts'

export const secretSettings = {
  secretKeys: secretSetting(
    'TOLLGATE_SECRET_KEYS',
    'Keys that seal the secrets providers give us: `id:base64` of 32 bytes each, with commas between them, the newest first. ' +
      'Empty: the file `secret-keys` in the data folder, which is made at the first start',
    parseSecretKeys,
  ),
}

/** Seals and opens secrets. Without keys both throw a SecretKeysMissingError: everything else of a service works on. */
export type Secrets = Pick<SecretBox, 'seal' | 'open' | 'isCurrent' | 'reseal'>

/** With the keys of the configuration; embedded, with those of the data folder. */
export async function openSecrets(
  config: { readonly secretKeys: SecretKeys | undefined; readonly dataDir: string },
  logger: Pick<Logger, 'warn'>,
): Promise<Secrets> {
  if (config.secretKeys !== undefined) return new SecretBox(config.secretKeys)
  if (config.dataDir !== '') {
    return new SecretBox(await readOrMakeKeyFile(secretKeyFile(config.dataDir)))
  }
  logger.warn('TOLLGATE_SECRET_KEYS is not set: secrets of providers can be neither kept nor read')
  return noSecrets
}

const refuse = (..._: [string, SecretPlace?]): never => {
  throw new SecretKeysMissingError()
}

const noSecrets: Secrets = { seal: refuse, open: refuse, isCurrent: refuse, reseal: refuse }
