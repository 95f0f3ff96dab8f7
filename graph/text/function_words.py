"""Function words of the languages that the word analysis tells apart.

They serve two ends: a text is taken to be in the language whose function words it uses most, and a query drops
those of its language. Only closed word classes stand here (articles, pronouns, prepositions, conjunctions,
auxiliaries, question words), folded as ``words.fold`` does; a word that can be a topic stays searchable.
"""

from typing import Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


LATIN: Final[dict[str, frozenset[str]]] = {
    "en": _set("""
        a an the this that these those i me my mine myself you your yours yourself he him his himself she her hers
        herself it its itself we us our ours ourselves they them their theirs themselves who whom whose which what
        when where why how am is are was were be been being have has had having do does did doing done can could
        will would shall should may might must and or but nor so if then than because as until while of at by for
        with about against between into through during before after above below to from up down in out on off over
        under again there here all any both each few more most other some such no not only own same too very just
        also i'm i've i'll i'd you're you've you'll you'd he's she's it's we're we've we'll they're they've they'll
        that's there's what's who's where's when's how's don't doesn't didn't isn't aren't wasn't weren't can't
        couldn't won't wouldn't shouldn't hasn't haven't hadn't let's s t"""),
    "de": _set("""
        der die das den dem des ein eine einen einem einer eines kein keine keinen und oder aber denn weil dass daß ob
        wenn als wie ich mich mir du dich dir er ihn ihm sie es wir uns ihr euch ihnen mein meine dein deine sein
        seine unser unsere bin bist ist sind seid war waren wird werden wurde wurden worden habe hast hat haben hatte
        hatten kann können muss müssen soll sollen will wollen nicht auch nur noch schon sehr mit von vom zu zum zur
        bei beim nach vor für über unter auf aus an am im in ins durch gegen ohne um zwischen was wer wen wem wo wann
        warum welche welcher welches dieser diese dieses hier dort dann so man"""),
    "fr": _set("""
        le la les l un une des du de d et ou où mais donc car que qu qui quoi quel quelle quels quelles quand comment
        pourquoi je j tu il elle on nous vous ils elles me m te t se s lui leur leurs mon ma mes ton ta tes son sa
        ses notre nos votre vos ce c cet cette ces ne n pas plus est es suis sommes êtes sont était étaient été être
        ai as a avons avez ont avait avaient avoir fait dans sur sous avec sans pour par en au aux chez vers entre
        y si comme aussi très"""),
    "es": _set("""
        el la los las un una unos unas de del al y e o u pero porque que qué quien quién cual cuál cuando cuándo
        donde dónde como cómo por para con sin sobre entre desde hasta en a yo tú él ella nosotros vosotros ellos
        ellas me te se nos os lo le les mi mis tu tus su sus nuestro nuestra este esta estos estas ese esa eso esto
        es son soy eres somos era eran fue fueron ser está están estoy estaba ha han he hemos había haber no sí ni
        muy más también ya si"""),
    "it": _set("""
        il lo la i gli le un uno una l di del dello della dei degli delle d a al allo alla ai agli alle da dal dalla
        in nel nella nei nelle su sul sulla con per tra fra e ed o ma perché che chi cui quale quali quando dove come
        io tu lui lei noi voi loro mi ti si ci vi mio mia tuo tua suo sua nostro nostra questo questa questi queste
        quello quella è sono sei siamo siete era erano stato essere ho hai ha abbiamo avete hanno aveva avere non
        più anche molto già se"""),
    "pt": _set("""
        o a os as um uma uns umas de do da dos das em no na nos nas ao aos à às por pelo pela para com sem sobre
        entre até e ou mas porque que quem qual quando onde como eu tu ele ela nós vós eles elas você vocês me te se
        lhe meu minha teu tua seu sua seus suas nosso nossa este esta esse essa isto isso é são sou somos era eram
        foi foram ser está estão estava tem têm tenho tinha há não sim mais muito também já se"""),
    "nl": _set("""
        de het een en of maar want omdat dat die dit deze wie wat welke wanneer waar waarom hoe ik mij me jij je jou
        hij hem zij ze haar wij we ons jullie hun mijn jouw zijn onze ben bent is was waren wordt worden werd werden
        heb hebt heeft hebben had hadden kan kunnen moet moeten zal zullen niet geen ook nog al zeer met van naar
        voor over onder op uit aan in bij door tegen zonder tussen om te als dan er hier daar"""),
    "sv": _set("""
        en ett den det de dem och eller men för att som om när var vad vem vilken varför hur jag mig du dig han honom
        hon henne vi oss ni er min mitt din sin vår deras är vara varit blir blev har hade kan kunde ska skulle inte
        ingen också bara mycket med av från till på i under över mellan efter före utan här där så"""),
    "da": _set("""
        en et den det de dem og eller men for at som om når hvor hvad hvem hvilken hvorfor hvordan jeg mig du dig han
        ham hun hende vi os i jer min mit din sin vores deres er var være været bliver blev har havde kan kunne skal
        skulle ikke ingen også kun meget med af fra til på under over mellem efter før uden her der så"""),
    "no": _set("""
        en et ei den det de dem og eller men for at som om når hvor hva hvem hvilken hvorfor hvordan jeg meg du deg
        han ham hun henne vi oss dere min mitt din sin vår deres er var være vært blir ble har hadde kan kunne skal
        skulle ikke ingen også bare mye med av fra til på under over mellom etter før uten her der så"""),
    "fi": _set("""
        ja tai mutta koska että jos kun kuin joka jotka mikä mitä kuka missä milloin miksi miten minä minun minut
        sinä sinun hän hänen me meidän te teidän he heidän se sen tämä tämän nämä tuo ne on ovat oli olivat olla
        ollut olen olet olemme ei en et eivät myös vain hyvin kanssa ilman ennen jälkeen niin"""),
    "hu": _set("""
        a az egy és vagy de mert hogy ha amikor mint aki ami amely ki mi mit mikor hol miért hogyan én te ő mi ti ők
        engem téged őt minket ez ezt azt ezek azok van vannak volt voltak lesz lenni nem ne is csak már még nagyon
        meg el fel le be ki között alatt után előtt nélkül"""),
    "ro": _set("""
        un o unui unei al ai ale a cel cea și sau dar pentru că dacă când unde cum cine ce care de din la în pe cu
        fără despre între până după eu tu el ea noi voi ei ele mă te se ne vă îl îi meu mea tău ta său sa nostru
        acest această este e sunt ești era erau fost fi am ai are avem aveți au avea nu da mai foarte"""),
    "pl": _set("""
        i oraz lub albo ale bo ponieważ że żeby jeśli gdy kiedy jak który która które kto co gdzie dlaczego ja mnie
        ty ciebie on ona ono my wy oni one się mój moja twój jego jej nasz ich ten ta to te ci jest są był była było
        były być jestem nie tak też tylko już bardzo z ze w we na do od dla po przed za pod nad przez bez o u"""),
    "tr": _set("""
        ve veya ya ama çünkü ki eğer ne kim hangi nerede niçin neden nasıl ben bana beni sen sana seni o ona onu biz
        bize siz size onlar benim senin onun bizim bu şu bir var yok değil mi mı mu mü de da ile için gibi kadar
        sonra önce çok daha en her"""),
    "id": _set("""
        yang dan atau tetapi tapi karena bahwa jika kalau ketika apa siapa mana kapan mengapa bagaimana saya aku kamu
        anda dia ia kami kita mereka ini itu adalah ialah ada tidak bukan juga hanya sudah telah akan sedang di ke
        dari pada untuk dengan tanpa oleh dalam antara sangat"""),
}

OTHER: Final[dict[str, frozenset[str]]] = {
    "ru": _set("""
        и или но а что чтобы если когда как где кто кого какой какая какие почему зачем я меня мне ты тебя тебе он
        его ему она её ее ей мы нас нам вы вас вам они их им мой моя твой наш ваш этот эта это эти тот та те быть
        был была было были есть не ни да нет же бы ли тоже только уже очень в во на с со к ко из от до по за под
        над при для без о об у про"""),
    "el": _set("""
        ο η το οι τα του της των τον την τους τις ένας μια μία ένα και ή αλλά γιατί ότι αν όταν πώς πού ποιος ποια
        τι εγώ εσύ αυτός αυτή αυτό εμείς εσείς μου σου μας σας είναι ήταν είμαι έχω έχει έχουν δεν μη μην να θα με
        σε στο στη στην από για χωρίς πολύ"""),
    "ar": _set("""
        و أو لكن لأن أن إن إذا عندما كيف أين من ما ماذا متى لماذا أنا أنت هو هي نحن هم هذا هذه ذلك تلك الذي التي
        كان كانت يكون ليس لا لم لن قد في على إلى عن مع بين بعد قبل كل"""),
    "hi": _set("""
        और या लेकिन क्योंकि कि यदि जब कैसे कहाँ कौन क्या कब क्यों मैं मुझे तुम आप वह वे हम यह ये मेरा मेरी आपका
        उसका है हैं था थी थे हो नहीं भी ही का की के को से में पर तक ने एक"""),
}

CJK: Final[frozenset[str]] = _set("""
    什么 怎么 怎样 怎么样 为什么 哪里 哪儿 哪个 哪些 哪天 哪种 谁 几 吗 呢 吧 啊
    呀 的 了 着 地 得 是 在 有 和 与 及 或 也 都 就 还 很 我 你 您 他 她
    它 我们 你们 他们 她们 这 那 这个 那个 这些 那些 不 没 没有 是否 是不是
    有没有 可以 因为 所以 但是 如果 虽然 一个 一下 多少 把 被 对 从 到 向 给 让
    请 曾 曾经 过 时候 关于 是什 么时 候的
    は が を に へ と で も の や か から まで より です ます した する して
    いる ある これ それ あれ この その あの ここ どこ いつ だれ 誰 何 なに なぜ
    どう こと もの ました ません という でし でした
    은 는 이 가 을 를 의 에 에서 와 과 도 로 으로 그리고 하지만 무엇 누구 언제
    어디 왜 어떻게""")
"""Chinese, Japanese and Korean function words; runs of these are not split, so only what is listed is dropped."""
