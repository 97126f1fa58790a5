import { resealSecrets } from '@tollgate/domain/secrets/reseal-secrets'
import type { CliParts } from './open-cli-parts.ts'

export async function rotateSecretsCommand(parts: CliParts): Promise<void> {
  const resealed = await resealSecrets(
    parts.database,
    await parts.openSecrets(),
    parts.actorOf('secrets rotate'),
  )
  parts.output.show({
    json: { reencrypted: resealed },
    text: [
      `Encrypted ${resealed} ${resealed === 1 ? 'secret' : 'secrets'} with the newest key. It opens every secret now; older keys can be removed.`,
    ],
  })
}
