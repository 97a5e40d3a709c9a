// Passwords that attackers try first. Those shorter than the minimum length are not listed.

/** Whole passwords of twelve or more characters from the top of leak lists, in lower case. */
export const commonPasswords: ReadonlySet<string> = new Set(
  `
  administrator adminadminadmin administrador administrateur alexander123 anthony12345 abcd1234abcd abcdabcdabcd
  asdfasdfasdf asdfghjkl123 asdfghjklqwe asdf1234asdf a1b2c3d4e5f6 a1s2d3f4g5h6 aa1234567890 abc123456789 abc123abc123
  barcelona123 basketball12 basketball23 blink182blink butterfly123 bubblegum123 businessbabe charlie12345 cheerleader1
  chelsea12345 chocolate123 christopher1 computer1234 constantinople dragonball123 dragonballz1 elizabeth123 everything123
  f00tb4ll1234 football1234 fuckyou12345 fuckyoufuckyou ganjaganja123 gfhjkmgfhjkm ghbdtnghbdtn goodmorning1 guitarplayer
  hellohello12 hello123hello helloworld12 helloworld123 helpmehelpme holahola1234 hollywood123 iamthebest12 iloveyou1234
  iloveyou12345 iloveyouforever iloveyousomuch internet1234 jesuschrist1 jesusislord1 jordan232323 justinbieber
  justinbieber1 killer123456 kristina1234 letmein12345 letmeinletmein linkinpark12 liverpool123 liverpoolfc1 loveyou12345
  lovelovelove lovemelovemelove manchester12 manchesterunited maryjane1234 masterkey123 mercedesbenz metallica123
  michaeljackson michael12345 minecraft123 motherfucker motherfucker1 mustang12345 mypassword12 naruto123456 newyork12345
  nopassword12 nothing12345 opensesame12 p4ssw0rd1234 pa55word1234 parola123456 passphrase12 passwort1234 passw0rd1234
  passw0rd12345 password1234 password12345 password123456 passwordpassword photography1 playstation2 playstation3
  playstation4 pokemon12345 princess1234 q1w2e3r4t5y6 q1w2e3r4t5y6u7 qazwsx123456 qazwsxedcrfv qazxswedcvfr qwer1234qwer
  qweasdzxc123 qweasdzxcqwe qwerasdfzxcv qwert1234567 qwerty123456 qwerty1234567 qwertyqwerty qwertyuiop12 qwertyuiop123
  qwertyuiop[] rockandroll1 samsung12345 september123 skateboarding slipknot6666 soccer123456 spiderman123 starwars1234
  stainlesssteel summer123456 sunshine1234 superman1234 supersecret1 teamomucho12 testtesttest test12341234 thisismypassword
  thunderstorm trustno1trustno1 undertaker12 unbelievable1 usuario12345 valentina123 wachtwoord12 washington12 welcome12345
  welcome123456 whatever1234 winner123456 wordpass1234 yankees12345 zaq12wsxcde3 zaq1xsw2cde3 zaq1zaq1zaq1 zxcvbnm12345
  zxcvbnmasdfghjkl 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1qaz2wsx3edc 1qaz1qaz1qaz 1qazxsw23edc 12qwaszx12qw 123qweasdzxc
  123456789abc 123456789qwe 1234567890qw 123456abcdef 123456qwerty 123abc123abc 123admin123admin 147258369000 147852369000
  159753456852 159357258456 741852963000 789456123000 987654321000 102030405060 010203040506 112233445566 111222333444
  123321123321 123456654321 1234qwerasdf 1234567899876 314159265358 271828182845
  `
    .trim()
    .split(/\s+/),
);

/** Words that are part of too many passwords; digits and signs around them do not help. */
export const commonWords: readonly string[] = [
  "administrator",
  "password",
  "passwort",
  "passphrase",
  "bootstrap",
  "tidemark",
  "changeme",
  "iloveyou",
  "sunshine",
  "princess",
  "superman",
  "football",
  "baseball",
  "trustno",
  "welcome",
  "letmein",
  "default",
  "monkey",
  "dragon",
  "master",
  "secret",
  "qwerty",
  "azerty",
  "asdfgh",
  "login",
  "hello",
  "admin",
  "love",
  "root",
  "user",
  "pass",
  "abc",
];

/** Walks over a keyboard or an alphabet; any stretch of them, in either direction, is a guess. */
export const commonWalks: readonly string[] = [
  "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
  "0123456789012345678901234567890123456789",
  "qwertyuiopasdfghjklzxcvbnm",
  "qwertyuiop[]asdfghjkl;'zxcvbnm,./",
  "`1234567890-=qwertyuiop[]",
  "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
  "qazwsxedcrfvtgbyhnujmikolp",
  "1q2w3e4r5t6y7u8i9o0p",
  "q1w2e3r4t5y6u7i8o9p0",
];
