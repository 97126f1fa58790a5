import type { Translation } from './catalog.ts'
import type { signInEnglish } from './sign-in.en.ts'

export const signInJapanese = {
  title: 'サインイン',
  titleWith: '{{name}} にサインイン',
  emailText: 'メールアドレスにコードを送信します。パスワードは必要ありません。',
  email: 'メールアドレス',
  emailInvalid: 'メールアドレスを入力してください（例: ada@example.com）。',
  sendCode: 'コードを送信',
  codeTitle: 'コードを入力',
  codeSent: '{{email}} にコードを送信しました。有効期間は 10 分です。',
  codeSentShared:
    'このアドレスのコードが何度も請求されました。過去 1 時間以内に {{email}} に送信したメールにある 16 桁のコードを入力してください。',
  codeInbox: 'この環境ではメールを送信しません。メッセージは{{inbox}}に表示されます。',
  codeInboxLink: 'このマシンの受信箱',
  code: 'コード',
  codeWrong: 'コードが正しくありません。確認してもう一度お試しください。',
  codeEnded:
    'コードの有効期限が切れたか、誤入力の回数が上限に達しました。新しいコードを請求してください。',
  signIn: 'サインイン',
  otherEmail: '別のメールアドレスを使用',
  signedInAs: '{{email}} としてサインイン中',
  or: 'または',
  continueWith: '{{name}} で続ける',
  leavingText: '{{name}} に移動します。移動しない場合は、ボタンを押してください。',
  upstreamDenied:
    '{{name}} でのサインインが許可されませんでした。もう一度お試しいただくか、コードでサインインしてください。',
  upstreamUnverified:
    '{{name}} でメールアドレスが確認されていません。{{name}} で確認するか、コードでサインインしてください。',
  upstreamTaken:
    'このメールアドレスには {{name}} の別のアカウントが関連付けられています。そのアカウントを使うか、コードでサインインしてください。',
  upstreamFailed:
    '{{name}} でのサインインを完了できませんでした。後でもう一度お試しいただくか、コードでサインインしてください。',
  consentTitle: '{{client}} を許可しますか？',
  consentText:
    '{{client}} があなたの代わりに {{name}} を利用しようとしています。利用はあなたのプランに計上されます。',
  clientUnnamed: '名前のないアプリケーション',
  clientPublisher: '公開元',
  clientUnverified: '自己登録: 名前は確認されていません',
  clientRedirect: '移動先',
  redirectLocal: 'このマシン上のアプリケーション',
  localWarning: 'このマシンのアプリケーションを接続しようとしている場合にのみ許可してください。',
  clientMay: '参照できる情報',
  scopeOpenid: 'お客様であること',
  scopeProfile: '名前',
  scopeEmail: 'メールアドレス',
  allow: '許可する',
  refuse: '許可しない',
  connectCheckoutTitle: 'お支払いに進みますか？',
  connectTopUpTitle: 'クレジットの購入に進みますか？',
  connectPortalTitle: 'アカウントに進みますか？',
  connectText: 'ご利用中のアプリケーションから提供されたリンクです。',
  connect: '続ける',
  invalidTitle: 'このリクエストは無効です',
  invalidText:
    'アプリケーションからやり直してください。解決しない場合は、次の内容を開発元にお知らせください。',
  mailSubject: '{{name}} のコード: {{code}}',
  mailText:
    '{{name}} にサインインするためのコードは {{code}} です。有効期間は 10 分です。\n\n誰にも教えないでください。請求した覚えがない場合は、このメッセージを無視してください。',
  mailTextShared:
    '{{name}} にサインインするためのコードは {{code}} です。有効期間は 1 時間で、あなたのメールアドレスが入力されたどのブラウザーでも使えます。\n\n誰にも教えないでください。あなたのアドレスのコードが、おそらく別の人によって何度も請求されました。このコードの有効期限が切れるまで、別のコードは送信しません。',
} satisfies Translation<typeof signInEnglish>
