import type { ReactElement } from 'react'
import type { Reader } from './reader.ts'

/**
 * What is not known before the bank has answered. A script looks again, and changes the page once there is something to
 * tell: one that reloads by itself would take it away from whoever is reading it.
 */
export function BankWaitedFor({ t }: Pick<Reader, 't'>): ReactElement {
  return (
    <>
      <p data-looks-again="yes">{t('shared:bankWaitedFor')}</p>
      <p>
        <a href="">{t('shared:bankCheckAgain')}</a>
      </p>
    </>
  )
}
