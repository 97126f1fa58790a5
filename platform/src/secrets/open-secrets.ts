import { secretSetting } from '../config/settings.ts'
import type { Logger } from '../observability/logger.ts'
import { readOrMakeKeyFile, secretKeyFile } from './key-file.ts'
import { SecretBox, type SecretPlace } from './secret-box.ts'
import { SecretKeysMissingError } from './secret-errors.ts'
import { parseSecretKeys, type SecretKeys } from './secret-keys.ts'

export const secretSettings = {
  secretKeys: secretSetting(
    'TOLLGATE_SECRET_KEYS',
    'Encryption keys for provider secrets: `id:base64` of 32 bytes each, separated by commas, the newest first. ' +
      'If empty, the file `secret-keys` in the data folder is used, which is created at the first start',
    parseSecretKeys,
  ),
}

/**
 * Encrypts (seals) and decrypts (opens) secrets. Without keys, each method throws a SecretKeysMissingError; the rest of a service
 * works.
 */
export type Secrets = Pick<SecretBox, 'seal' | 'open' | 'isCurrent' | 'reseal'>

/** Opens the secrets with the configured keys, or in an embedded installation with those of the data folder. */
export async function openSecrets(
  config: { readonly secretKeys: SecretKeys | undefined; readonly dataDir: string },
  logger: Pick<Logger, 'warn'>,
): Promise<Secrets> {
  if (config.secretKeys !== undefined) return new SecretBox(config.secretKeys)
  if (config.dataDir !== '') {
    return new SecretBox(await readOrMakeKeyFile(secretKeyFile(config.dataDir)))
  }
  logger.warn('TOLLGATE_SECRET_KEYS is not set: provider secrets can be neither stored nor read')
  return noSecrets
}

const refuse = (..._: [string, SecretPlace?]): never => {
  throw new SecretKeysMissingError()
}

const noSecrets: Secrets = { seal: refuse, open: refuse, isCurrent: refuse, reseal: refuse }
