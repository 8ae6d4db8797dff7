"""Plain words that prompts are made of; common enough that most tokenizers hold each, with a space before it, as one token."""

WORDS = tuple(
    """
able about above across action active actual address after again against age agent air all allow almost along already
also always among amount and animal another answer any appear apply area army around art article ask attack author away
back ball bank base battle beach bear beat beautiful because become bed before began behind being below best better
between beyond big bill bird black blood blue board boat body book born both bottom box boy break bridge bright bring
british brother brought brown build building built burn bus business but buy call came camp can capital car card care
carry case catch cause cell center central century certain chance change character charge check child children choice
church circle city civil claim class clean clear close club cold collection college color come command common community
company complete computer condition consider contain control cool cost could council count country county couple course
court cover create cross culture cup current cut daily dark data date daughter day dead deal death decide deep defense
degree department design development did die difference different direct director discover district doctor does dog done
door double down draw dream drive drop during each early earth east easy eat economic edge education effect effort eight
either election electric else empire end energy engine english enjoy enough enter entire equal error even evening event
ever every evidence example except experience explain eye face fact fall family famous far farm fast father favor fear
feature feel feet few field fight figure file fill film final find fine finish fire first fish fit five floor flow
flower follow food foot for force foreign forest form former forward found four free french fresh friend from front full
function future game garden gas gave general german get girl give glass go goal god gold gone good got government great
green grew ground group grow guide gun had hair half hall hand happen happy hard has have he head health hear heart heat
heavy height held help her here high hill him his history hit hold hole home hope horse hospital hot hotel hour house
how human hundred husband ice idea if image important include increase indeed individual industry inside instead
interest into iron island issue it item join judge just keep key kill kind king know known labor lady lake land language
large last late later law lay lead leader league learn least leave led left leg less let letter level library life light
like line list listen little live local long look lord lose loss lost lot love low machine made main major make male man
many map march mark market marriage mass master match material matter may me mean measure medical meet member memory men
mental met metal method middle might mile military million mind minister minute miss model modern moment money month
moon more morning most mother mountain mouth move movement much music must my name nation national natural nature near
necessary need network never new news next night nine no none nor north not note nothing novel now number object observe
ocean of off offer office officer official often oil old on once one only open opera operation opposite or orange order
original other our out outside over own page pain paint pair paper parent park part party pass past path pattern pay
peace people per perhaps period person phone photo phrase physical picture piece place plan plane plant play player
please point police political pool poor popular population position possible post power practice present president press
pretty price print private probably problem process produce product program project property provide public pull purpose
push put quality question quick quiet quite race radio rain raise ran range rate rather reach read ready real reason
receive record red region relate release religious remain remember report represent research rest result return rich
ride right ring rise river road rock role room root round royal rule run safe said sail same san save saw say school
science sea season second secret section security see seem sell send sense sent separate series serve service set seven
several shall shape share she ship shop short should show side sign similar simple since single sir sister sit site six
size skin sky small snow so social society soft soil soldier solution some son song soon sort sound source south space
speak special speech speed spend spoke sport spring square staff stage stand star start state station stay step still
stone stood stop store story straight strange street strong student study style subject success such sudden suggest
summer sun support sure surface system table take talk task tax teach team technology television tell ten term test than
that the their them then theory there these they thing think third this those though thought thousand three through time
title to today together told too took top total touch toward town trade train travel treat tree trial trip trouble true
truth try turn two type under union unit university until up upon us use usual value various very video view village
visit voice wait walk wall want war warm was watch water way we weather week weight well went were west what wheel when
where which while white who whole why wide wife wild will win wind window winter wish with within without woman women
wonder wood word work world would write wrong year yes yet you young
""".split()  # noqa: SIM905 - a block of words is read and changed more easily than 898 quoted ones
)
