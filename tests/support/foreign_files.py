"""Small data files of other writers, for what no library at hand can write.

Both were written by the official Java jars; the expected rows are what was given to the writer.
"""

import base64
import zlib


def _unpacked(text: str) -> bytes:
    return zlib.decompress(base64.b85decode(text))


PARQUET_0_8_2 = _unpacked(
    "c-oy-QD|FL7(VCRo12?7U02M1%$19jl3b$Hkh>&Z1`+2FDbj~B`cQmWm)l%1*mN~X%LE@(YLMZ4*n={KDWl53B4Z"
    "REd>C~v3KL~82KJ%ooPt>U(xDNg^FQa_rb(OCv5<T2Isg6s@B7Yw{}VFy>~R|i3_%*!7OtNUn4sfQ1Dy~)&Iln&A"
    "H`A5@KW&t6;f~r?wxsaBV0f@#vYvzfTAs+j+|!Xm_@EZuwd)roeR1N2QXCwjgbDMlJK~oRDO7dDWxDH4?z~r{`ki"
    "oi6kD<i1|pWWv{1br;RY;ez|$==bi#EVIy!*0A?}wag_b&pPO%JVn4oUU*6k=6y3zjmt1{+^;3O&-#d~-NN$o2Nr"
    "HQM5}I#)wcgWKs7FR5<wdf~-a&}M*K5C@4HR&JG2IN{1I;56WqIfP(w`9%BD=~mDDsu~F-DazBC{|If8V(9u_}<h"
    "$H!tml4^PL8WoFqTaMX>DdY$ogWul%d?i>wFvj9XgEv0->>hsJeL6vcwQn}J`XkBbCO_QrL&zG182q~V*X6$L5@R"
    "L8aVgTvlsGZ^nGsWk5Z<H?GdS_WtY{lC>WB#I4%EFcofX$Uxc><Uys+knRbPJI7DKj8sEfYIbvVIA*yL9!jQi7b3"
    "><%YNr5qc+EiN6RTU=u>3X1*wxU7FpDqSl*bN<?=bq%h(UIQSV!3i^X0kT*vRf%a1j7jyqh*rAv4TC$Mu!lbQ)8i"
    "5+}9@Oi_>$iY%Pc&PQh4$jGB@T*8%xl<g!Zb;ge}qV5E`L9@)N5m`~=>dNe+<AS+_7Hd^p<)#-Ar4$Mmmy3=mOov"
    "CBL3avWfx?vhi7B(?6azxj#6UxB2&R^swEWO~pEAPc|l5AUHVL@~#_99=7K$I_sAVsXJ6c3P*P&Fe@D?7G@S)@I{"
    "7b#z&h_YTXhgp(3qDzS}B(^0y5_u#1+X!%eI|OlJonyjVg6v}SHZ3_%atBeJUiJHVT@%cWu<&|GX?ew$x5uo`U*`"
    ")HQPy2%;sL=gN6X^g#qnLiyBvl=Vl|bP;||`IWnEfsDxH?u{Vbp9Me1A9@~YZ;QAt{*rzP1qpTGwXNcM>!Tj&vF>"
    "jCK#_di0b*l~L*5aA8V-=he$t^`c)gnP%GtI4)imvVe5WUfe=6-}0z?3HO1B*GnDLSSK7PvTF8`0Z%-{GA~CsRt}"
    "#Ee3bGp(tB>yQN#Luo!&6R=6!_8xi4g0}p^^<aAXWfV!;eWy-&x_`quD*s5K&*u-?g8zHV+I$sJ!2}!;%Tdcl1=h"
    "mO9R0rnWYOQ=~X24F_nUp<{bmq#_rGb)@weuM}eWa9g4rj9NRPIP7UCJL$PnC+UJ#4$#biPz_icc6zc$)Y5lJ9X-"
    "WBAA7KRSCv{r"
)
"""Release 0.8.2: every field optional, map keys included.

Four rows of i INT NOT NULL, m MAP<STRING, INT>, ms MULTISET<STRING>,
    r ROW<x INT, mm MAP<INT NOT NULL, STRING>>, a ARRAYr
    r<INT>, t TIMESTAMP(9). In row 2 all but i is nullr
in row i the map is {a<i>: i, b: null}, the multiset {p: i}, r is (i, {5: v<i>, 6: null}) but for
a null map in row 3, a is [i, null] and t is 1970-01-01 minus 1.5 i seconds plus 7 nanoseconds.
"""

ORC_FROM_TOKYO = _unpacked(
    "c-r$1au#G@;9?VE;b012@C7nexVRYLKuC;((Mv$$+mXd{dQ%i2lmTM^BTj|qrtJnP1XCb|vOtAATr6NEEF3@"
    "qSD=6b7aLyV87zT{q`25&X7htICUJ5!a0oPTNHlN|?MwpZSOcY{xmY2RLL7`rJY3A#3JO9XLV_)Tfhf0n0~I"
    "NAaiX|INq~zrF-ZYv6oiuC3Sb0U^S^<YfuW2+dFS;HK=pA9%y*FlcU=|06hu=A^obKg173Lt1`rAK09fq-tj"
    "f3<7{JZ~Dsf{72w-H;*sA|G!Gqx|3xg56n8XBa+0%!=p0nHcPTMBGZ_<H%cQTjzdQ7rDy?CRB0C$^mBGarc!"
    ">RXbc5j-p?uB-VOYZMt8_%W*F6*t=ExkT9`+4ax)5E%gc~=hlKlFUS!M}cWcEjw|*^CMd32owhWiO{^aj`H*"
    "`b=ei5}TQ<DOtdu!nVobo}vkBQ=^W8{0W{E#-9$G%FXsn5q3Cprp8&7`7C4M1FH##Zf#<bfjCv+r7jD@CpSr"
    "@4eGK!QVmy}R(XcJdl=lLBqyd*AS73^$+tpLS6J=RlBKe(Tcylqa;l2#KJLCd^o&-lL9o{>A5Ft&A9>IH;@<"
    "!6HB-ihu=xqwy&_ldPcbnS;ZI*{mtvwT(Z?Zo$UT^=;sDP^ZidjqSuL{|s~T2)3m4cRv_K<Cfq80R)ubTjOr"
    "{(rNZ3g-rgAd01=yM-bYEgLNRgOeCVHYhVcJ|KIfpa5ZeIJfbdGRoQt{H8Zs*?A9yiO|p8NOlz0wJ88tmKeT"
    "2Itx&}YzNkUPc1d}4Fv0xd@0O>4N8FSvYm<>8lyGhb|BYB*mzNz8wha)oPrl2z{yiw39e9~R=XBYD|Q$Hm*M"
    "oH3by+LfNI5^9rU4ZIe4F58;0YmG&a{<I4#A76SDsV#CkOW&GtqN`7#-1pl*FFl(2;BVQyUB<gQPITPK-+ou"
    "pHy|PBOh>`ISz9d2GR~!K&~FRzmh5T^YMc}QQi1VM!h^ci%iiRjV+-3jZ@Jj|l-SJKY2Tlpe0P5JnyNOJcab"
    "KMA|g0L$aIUQRS0W9x-XC28Sa8(na5o{BF^V&T|cYAv6D%FRidFmK#7TgM`I$R0cX<}W@i5&XGs7Sn|oX"
)
"""Release 2.0.0 in a process whose zone was Asia/Tokyo, with the default legacy local-zoned type.

Two rows of z LTZ(6), t TIMESTAMP(3), r ROW<z LTZ(3)>, a ARRAY<LTZ(6)>, m MAP<CHAR(3), LTZ(6)> and
c CHAR(5), LTZ being TIMESTAMP WITH LOCAL TIME ZONE. In the first every time is
2024-07-01 00:30:00.123 (UTC), a has a null behind it, the map's key is "k" and c is "ab"; the
second is all null.
"""

ORC_WITHOUT_ZONE = _unpacked(
    "c-r$1au#G@;9?VE;b012@C7nexVRYLKuC;((Mv$$+mXd{dQ%i2lmTM^qbyJ%4;Kqq2@3~Mz!fN<z{Q4F7lS2"
    "GkrWp@%xr#;#w1RT1`dG+4v7X1qHQN&jx|tPnu`@8Da663#KXm$t)L(TA|%)X7>IJKH&Br>7bl8almxg~6O$"
    "BxMnNbEt^h`$HUArU85qhKly_eL08}5xz<d|CAkfiH3=MeY9T-3)(5+y#2e2yRW?%rj0I0-`A%KsOL1U}_-v"
    "kMUx6BMmZUX!Yx&i#0IxWwpChtDQeLuiOwNZn!;`Q0&we4N)YqaLgI3W>Yx9-!M$C~Ty#GXp#sqWdprrz3r;"
    "N=Iy)66k5p0Y|aG;~dUF<pptdZW&=Q_P>%ZDD-mkfy+Wf_;+iRXG8sPmO0By2`h0oFeRS=1h&VD)U*!!UuD<"
    "vhw_40J}ut{90y)pf+*E4eGKy%7=tJ4tkoVZ_;?Q^B|M@Lr3-7E#j9n6P0==Y+-I$^UJh@LvhOO;QPA5lRb6"
    "YB~*Enrp&2))in95mHy`<1|gojnN!xRnr<B#%B&{B?e@5^Y{h#|MYcVC?CcDohqGE{F;+Q*3JYvmv`TA@38M"
    "xRBq*LUgmM5=hPiQq_Z3D19%dm?)`J~_HcDPXGu!{gFTa1tc+14g4{f)WFmHXNyRiE3^ZWZ=JTO0X<JLVFCT"
    "Y=yYmQaN35jV5uzj-Z@XKC%-E_j9{I1lvMSBYPwoVgTzI6(R>-WDiKK)+&_vF7{A7zB5Rc3zLxxIOL&AX{n1"
    "0rHlaspO<SXS{c!B`?}=G0$>+gF`3$iBQKW2xGX2<8JXGfo`ccA|7cX81RU4{xg0KNEiSQYu1l{l}}zQ=CjK"
    "Le%aaX6Afw^Rv;Ou(;jf9oIXqA5VNRTheszh6lpmghY}~++dt~al%Gs0W|-wI&|ycgkaWy^r;fzrHlo)SN1L"
    "Tia1~AloKk#F`Y?(RidFmK#7TgN28I^fV1ffGqZn?vm^k+R8bo"
)
"""The same without the column t; without a TIMESTAMP the file does not name the zone."""
