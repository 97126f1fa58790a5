import { shownNameOf } from '../../customer-auth/client-metadata.ts'

const mailNameCharsMax = 80

/**
 * The name of a provider as it stands in mails: one line of visible text, of which no mail program makes a link. Whoever sends a code to
 * an address of somebody else must not bring an address of a page along.
 */
export function mailNameOf(name: string | undefined): string {
  const line = shownNameOf(name) ?? ''
  const unlinked = line
    .replaceAll(/\s*:\/\/\s*/g, ' ')
    .replaceAll(/:(?=\S)/g, ': ')
    // A full stop between letters makes an address of them; this character looks the same.
    .replaceAll(/(?<=\S)[.\u3002\uff0e\uff61](?=\S)/g, '\u2024')
    .replaceAll(/(?<=\S)@(?=\S)/g, ' @ ')
  return Array.from(unlinked).slice(0, mailNameCharsMax).join('').trim()
}
