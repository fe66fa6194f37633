# A subject that speaks the protocol: Theorem D.4, in the core of Perl. See PROTOCOL.md.
use strict;
use warnings;
use JSON::PP;
$| = 1;

while (my $line = <STDIN>) {
    my $question = decode_json($line);
    my %p = %{ $question->{arguments} };
    my %reply = (id => $question->{id});
    my $size = $p{b} >= 1 ? int($p{n} / $p{b}) : 0;
    if (grep { !/^-?[\d.]+(e[-+]?\d+)?$/i } values %p) { $reply{refused} = "no number" }
    elsif ($size < 1 || $p{epochs} < 1 || $p{alpha} <= 1 || $p{eta} * $p{beta} >= 2) {
        $reply{refused} = "outside the assumptions";
    } elsif (grep { $p{$_} <= 0 } qw(eta beta sensitivity sigma2)) { $reply{refused} = "not positive" }
    elsif ($p{position} < 0 || $p{position} >= $size) { $reply{refused} = "position" }
    else {
        my $weight = ($p{epochs} - 1) / $size + 1 / ($size - $p{position});
        my $shift = $p{sensitivity} / $p{b};
        $reply{value} = $weight * $p{alpha} * $p{eta} * $shift * $shift / $p{sigma2} / 4;
    }
    print encode_json(\%reply), "\n";
}
