import { shownNameOf } from '../../customer-auth/client-metadata.ts'

const mailNameCharsMax = 80

/**
 * Returns the provider's name for emails: one line of visible text that no mail program turns into a link. A person can request a
 * code for the address of another person, so the email must not contain an address that the provider chose.
 */
export function mailNameOf(name: string | undefined): string {
  const line = shownNameOf(name) ?? ''
  const unlinked = line
    .replaceAll(/\s*:\/\/\s*/g, ' ')
    .replaceAll(/:(?=\S)/g, ': ')
    // Mail programs recognize an address by full stops between letters. This character looks the same.
    .replaceAll(/(?<=\S)[.\u3002\uff0e\uff61](?=\S)/g, '\u2024')
    .replaceAll(/(?<=\S)@(?=\S)/g, ' @ ')
  return Array.from(unlinked).slice(0, mailNameCharsMax).join('').trim()
}
